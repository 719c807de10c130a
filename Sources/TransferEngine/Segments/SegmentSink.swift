public import TransferCore

/// Takes one part of a file that several exchanges fill; used on one loop.
public final class SegmentSink: BodySink {
    public private(set) var position: Int64
    private let file: SegmentedFile
    private let claim: Int

    /// - Parameters:
    ///   - claim: The number of the claim in the file's map.
    ///   - start: Its first byte.
    public init(_ file: SegmentedFile, claim: Int, start: Int64) {
        self.file = file
        self.claim = claim
        position = start
    }

    public func begin(_ start: BodyStart) throws(TransferError) {
        try start.requireBeginning(at: position)
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try file.write(bytes, at: &position, claim: claim, isLead: false)
    }
}

extension BodyStart {
    /// - Throws: `badResponse` where a part begins elsewhere than it was asked for.
    func requireBeginning(at position: Int64) throws(TransferError) {
        guard overlap == 0, offset == position else {
            throw TransferError(
                .badResponse, "asked for the bytes from \(position), the server sent those from \(offset)",
                isTransient: true)
        }
    }
}
