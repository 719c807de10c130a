/// An upload on the server: the whole file, or a part of it that is joined with other parts at the end.
///
/// Offsets are the server's, from the piece's own start.
struct TusPiece: Sendable {
    /// The piece's bytes in the source.
    let range: Range<Int64>
    /// The URL of the upload; `nil` before the server has created it.
    var url: String?
    /// The time at which the server intends to remove it, in seconds since 1970.
    var expires: Int64?
    /// The bytes that the server holds, by its last report.
    private(set) var offset: Int64 = 0
    /// Whether the server has reported ``offset``.
    private(set) var isKnown = false
    var phase = Phase.waiting
    private var highest: Int64 = 0
    private var stalls = 0
    private var falls = 0
    private var conflicts = 0
    private var mismatches = 0
    private(set) var losses = 0

    enum Phase: Sendable, Equatable {
        /// No request is under way → any other phase but `complete`.
        case waiting
        /// The piece is being created → `asking`, `digesting`, `sending`, `complete`
        case creating(request: Int, body: Range<Int64>?)
        /// The offset is being queried → `creating` (it is gone), `digesting`, `sending`, `complete`
        case asking(request: Int)
        /// The checksum of a chunk is being computed → `sending`
        case digesting(id: Int, Range<Int64>)
        /// A chunk is being sent → `asking`, `creating` (it is gone), `digesting`, `sending`, `complete`
        case sending(request: Int, Range<Int64>)
        /// The server holds the whole piece; the final phase.
        case complete

        var request: Int? {
            switch self {
            case .creating(let request, _), .asking(let request), .sending(let request, _): request
            case .waiting, .digesting, .complete: nil
            }
        }

        var digest: Int? {
            if case .digesting(let id, _) = self { return id }
            return nil
        }
    }

    init(_ range: Range<Int64>, url: String? = nil, expires: Int64? = nil) {
        self.range = range
        self.url = url
        self.expires = expires
    }

    var length: Int64 { range.upperBound - range.lowerBound }

    /// Returns the range of the next bytes to send.
    func chunk(of size: Int64?) -> Range<Int64> { offset..<offset + min(length - offset, max(1, size ?? .max)) }

    func inSource(_ chunk: Range<Int64>) -> Range<Int64> {
        range.lowerBound + chunk.lowerBound..<range.lowerBound + chunk.upperBound
    }

    /// Notes that the upload has just been created, empty.
    mutating func wasCreated(at url: String) {
        self.url = url
        isKnown = true
    }

    /// Notes that the server has lost the upload.
    ///
    /// - Returns: Whether to create it anew.
    mutating func wasLost() -> Bool {
        let times = losses + 1
        self = TusPiece(range)
        isKnown = true
        losses = times
        return losses <= Self.patience
    }

    /// Takes over the offset that the server reports, even if it contradicts earlier ones.
    ///
    /// Only a server that goes back repeatedly, without further progress, is given up.
    ///
    /// - Returns: Whether to continue.
    mutating func advance(to reported: Int64) -> Bool {
        if reported > offset { (stalls, conflicts, mismatches) = (0, 0, 0) }
        if reported < offset { falls += 1 }
        if reported > highest { (highest, falls) = (reported, 0) }
        offset = reported
        isKnown = true
        return falls <= Self.patience
    }

    /// Notes that the server accepted a chunk and none of its bytes.
    ///
    /// - Returns: Whether to continue.
    mutating func stalled() -> Bool {
        stalls += 1
        return stalls <= Self.patience
    }

    /// Notes a 409. The first may be due to bytes of an earlier connection; a second means that another client writes.
    mutating func conflicted() -> Bool {
        conflicts += 1
        return conflicts <= 1
    }

    /// Notes a 460, a wrong checksum.
    mutating func mismatched() -> Bool {
        mismatches += 1
        return mismatches <= Self.patience
    }

    private static let patience = 3
}
