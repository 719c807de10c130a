import TransferCore
import TransferCrypto

/// Reads a range of a ``RemoteSource`` for nothing but its digest.
///
/// `@unchecked Sendable`: it's one reader of a pipe, which wakes it only after it has returned from a look that found nothing;
/// so one thread at a time touches it.
final class RangeDigest: @unchecked Sendable {
    private let source: RemoteSource
    private let stream: RemoteStream
    private let range: Range<Int64>
    private let digest: OrderedDigest
    private let then: @Sendable (Result<Checksum, TransferError>) -> Void
    private var position: Int64
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    init(
        _ source: RemoteSource, _ stream: RemoteStream, _ range: Range<Int64>, _ algorithm: DigestAlgorithm,
        then: @escaping @Sendable (Result<Checksum, TransferError>) -> Void
    ) {
        self.source = source
        self.stream = stream
        self.range = range
        digest = OrderedDigest(DurableDigest(algorithm))
        self.then = then
        position = range.lowerBound
    }

    deinit { buffer.deallocate() }

    func read() {
        while position < range.upperBound {
            let count = Int(min(Int64(buffer.count), range.upperBound - position))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            switch stream.pipe.take(into: part, at: position, wake: { self.read() }) {
            case .bytes(let count):
                digest.add(UnsafeRawBufferPointer(rebasing: part[..<count]), at: position - range.lowerBound)
                position += Int64(count)
            case .later: return
            case .failed(let error): return end(.failure(error))
            case .gone:
                return end(.failure(TransferError(.cancelled, "the reading of the source was given up")))
            }
        }
        guard let digest = digest.whole(range.upperBound - range.lowerBound) else {
            return end(.failure(TransferError(.internalFault, "no digest could be made of the source")))
        }
        end(.success(digest))
    }

    private func end(_ result: Result<Checksum, TransferError>) {
        source.ended(stream)
        stream.close()
        then(result)
    }
}
