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
        guard start.overlap == 0, start.offset == position else {
            throw TransferError(
                .badResponse, "asked for the bytes from \(position), the server sent those from \(start.offset)",
                isTransient: true)
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try file.write(bytes, at: &position, claim: claim, isLead: false)
    }
}
