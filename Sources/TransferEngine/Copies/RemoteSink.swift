import TransferCore

/// Takes the body of one exchange of a ``RemoteStream``; used on one loop.
final class RemoteSink: BodySink {
    private let source: RemoteSource
    private let stream: RemoteStream
    private let number: Int
    private let start: Int64
    /// The first byte that hasn't come before.
    private let wanted: Int64
    private(set) var position: Int64

    init(_ source: RemoteSource, _ stream: RemoteStream, number: Int, from start: Int64, wanted: Int64) {
        self.source = source
        self.stream = stream
        self.number = number
        self.start = start
        self.wanted = wanted
        position = start
    }

    func begin(_ start: BodyStart) throws(TransferError) {
        try start.requireBeginning(at: self.start)
        guard let version = RemoteVersion(start) ?? source.version else {
            throw TransferError(
                .badResponse,
                "the server doesn't tell the length of its file, without which nothing can be sent on; download it, and "
                    + "upload the file")
        }
        guard source.accept(version, start.head) else { throw RemoteSource.changed }
        stream.answered(number, .success(version))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        let known = Int(max(0, min(Int64(bytes.count), wanted - position)))
        position += Int64(bytes.count)
        guard known < bytes.count else { return }
        guard stream.came(UnsafeRawBufferPointer(rebasing: bytes[known...]), of: number, source) else {
            throw TransferError(.cancelled, "nobody reads it any more")
        }
    }

    var isReady: Bool { stream.pipe.isReady }
}
