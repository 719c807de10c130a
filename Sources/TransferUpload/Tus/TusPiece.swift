/// One upload on the server: the whole file, or a part of it that is joined with others at the end.
///
/// Offsets are the server's, from the piece's own start.
struct TusPiece: Sendable {
    /// The piece's bytes in the source.
    let range: Range<Int64>
    /// `nil` before the server has created it.
    var url: String?
    /// When the server means to remove it, in seconds since 1970.
    var expires: Int64?
    /// Bytes that the server holds, by its word.
    private(set) var offset: Int64 = 0
    /// Whether ``offset`` is the server's word already.
    private(set) var isKnown = false
    var phase = Phase.waiting
    private var highest: Int64 = 0
    private var stalls = 0
    private var falls = 0
    private var conflicts = 0
    private var mismatches = 0
    private(set) var losses = 0

    enum Phase: Sendable, Equatable {
        /// Nothing under way → any other but `complete`.
        case waiting
        /// → `asking`, `digesting`, `sending`, `complete`
        case creating(request: Int, body: Range<Int64>?)
        /// → `creating` (it is gone), `digesting`, `sending`, `complete`
        case asking(request: Int)
        /// → `sending`
        case digesting(id: Int, Range<Int64>)
        /// → `asking`, `creating` (it is gone), `digesting`, `sending`, `complete`
        case sending(request: Int, Range<Int64>)
        /// The server holds all of it; the end.
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

    /// The next bytes to send.
    func chunk(of size: Int64?) -> Range<Int64> { offset..<offset + min(length - offset, max(1, size ?? .max)) }

    func inSource(_ chunk: Range<Int64>) -> Range<Int64> {
        range.lowerBound + chunk.lowerBound..<range.lowerBound + chunk.upperBound
    }

    /// The upload has just been made, empty.
    mutating func wasCreated(at url: String) {
        self.url = url
        isKnown = true
    }

    /// The server has lost it.
    ///
    /// - Returns: Whether to make it anew.
    mutating func wasLost() -> Bool {
        let times = losses + 1
        self = TusPiece(range)
        isKnown = true
        losses = times
        return losses <= Self.patience
    }

    /// The server's last word counts, whatever it said before; only a server that goes back again and again, without
    /// ever getting further, isn't followed for ever.
    ///
    /// - Returns: Whether to go on.
    mutating func advance(to reported: Int64) -> Bool {
        if reported > offset { (stalls, conflicts, mismatches) = (0, 0, 0) }
        if reported < offset { falls += 1 }
        if reported > highest { (highest, falls) = (reported, 0) }
        offset = reported
        isKnown = true
        return falls <= Self.patience
    }

    /// The server took a chunk and none of its bytes.
    ///
    /// - Returns: Whether to go on.
    mutating func stalled() -> Bool {
        stalls += 1
        return stalls <= Self.patience
    }

    /// 409. Once may be what an earlier connection still brought; again, somebody else writes.
    mutating func conflicted() -> Bool {
        conflicts += 1
        return conflicts <= 1
    }

    /// 460.
    mutating func mismatched() -> Bool {
        mismatches += 1
        return mismatches <= Self.patience
    }

    private static let patience = 3
}
