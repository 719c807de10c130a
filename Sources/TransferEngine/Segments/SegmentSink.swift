public import TransferCore

/// Takes one part of a file that several exchanges fill; used on one loop.
public final class SegmentSink: BodySink {
    public private(set) var position: Int64
    private let file: SegmentedFile
    private let claim: Int
    /// Bytes before the claim, which are still to come once more.
    private var seam = 0
    private var seamBytes: [UInt8] = []

    /// - Parameters:
    ///   - claim: The number of the claim in the file's map.
    ///   - start: Its first byte.
    public init(_ file: SegmentedFile, claim: Int, start: Int64) {
        self.file = file
        self.claim = claim
        position = start
    }

    public func begin(_ start: BodyStart) throws(TransferError) {
        guard start.overlap > 0 else { return try start.requireBeginning(at: position) }
        guard start.continued == position else { throw start.elsewhere(than: position) }
        seam = Int(start.overlap)
        seamBytes = []
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        guard seam > 0 else { return try file.write(bytes, at: &position, claim: claim, isLead: false) }
        let count = min(seam, bytes.count)
        seamBytes += bytes[..<count]
        seam -= count
        guard seam == 0 else { return }
        file.seams.add(seamBytes, before: position)
        let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
        if !rest.isEmpty { try file.write(rest, at: &position, claim: claim, isLead: false) }
    }
}

extension BodyStart {
    /// - Throws: `badResponse` where a part begins elsewhere than it was asked for.
    func requireBeginning(at position: Int64) throws(TransferError) {
        guard overlap == 0, offset == position else { throw elsewhere(than: position) }
    }

    fileprivate func elsewhere(than position: Int64) -> TransferError {
        TransferError(
            .badResponse, "asked for the bytes from \(position), the server sent those from \(offset)",
            isTransient: true)
    }
}
