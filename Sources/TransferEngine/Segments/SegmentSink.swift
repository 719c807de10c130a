public import TransferCore

/// A sink for one part of a file that several exchanges fill; used on one loop.
public final class SegmentSink: BodySink {
    /// The offset up to which bytes have come.
    public private(set) var position: Int64
    private let file: SegmentedFile
    private let claim: Int
    /// The number of bytes before the claim that are fetched once more and have not come yet.
    private var seam = 0
    private var seamBytes: [UInt8] = []

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - claim: The number of the claim in the file's map.
    ///   - start: The first byte of the claim.
    public init(_ file: SegmentedFile, claim: Int, start: Int64) {
        self.file = file
        self.claim = claim
        position = start
    }

    /// Begins the body of the part.
    ///
    /// - Throws: `badResponse` where the body begins elsewhere.
    public func begin(_ start: BodyStart) throws(TransferError) {
        guard start.overlap > 0 else { return try start.requireBeginning(at: position) }
        guard start.continued == position else { throw start.elsewhere(than: position) }
        seam = Int(start.overlap)
        seamBytes = []
    }

    /// Writes bytes of the claim.
    ///
    /// - Throws: `TransferError.partDone` at the end of the claim, or the error of the disk.
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
    /// Checks where a body begins.
    ///
    /// - Throws: `badResponse` where a part begins at another offset than the requested one.
    func requireBeginning(at position: Int64) throws(TransferError) {
        guard overlap == 0, offset == position else { throw elsewhere(than: position) }
    }

    fileprivate func elsewhere(than position: Int64) -> TransferError {
        TransferError(
            .badResponse, "asked for the bytes from \(position), the server sent those from \(offset)",
            isTransient: true)
    }
}
