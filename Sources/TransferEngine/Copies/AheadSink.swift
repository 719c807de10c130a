import TransferCore

/// A receiver of a chunk that a ``RemoteStream`` reads ahead, used on one loop. Only the chunk's bytes of the same
/// version are taken.
final class AheadSink: BodySink {
    private let source: RemoteSource
    private let stream: RemoteStream
    private let number: Int
    private(set) var position: Int64

    init(_ source: RemoteSource, _ stream: RemoteStream, chunk: OrderedRanges.Chunk) {
        self.source = source
        self.stream = stream
        number = chunk.number
        position = chunk.start
    }

    func begin(_ start: BodyStart) throws(TransferError) {
        try start.requireBeginning(at: position)
        guard let version = RemoteVersion(start) ?? source.version else { throw RemoteSource.changed }
        try source.accept(version, start.head)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(bytes.count)
        guard stream.came(ahead: bytes, of: number, source) else { throw .partDone }
    }
}
