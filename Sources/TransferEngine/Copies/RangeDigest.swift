import Synchronization
import TransferCore
import TransferCrypto

/// A reader of a range of a ``RemoteSource`` that only makes its digest.
final class RangeDigest: Sendable {
    private let source: RemoteSource
    private let stream: RemoteStream
    private let range: Range<Int64>
    private let digest: OrderedDigest
    private let then: @Sendable (Result<Checksum, TransferError>) -> Void
    private let position: Mutex<Int64>

    init(
        _ source: RemoteSource, _ stream: RemoteStream, _ range: Range<Int64>, _ algorithm: DigestAlgorithm,
        then: @escaping @Sendable (Result<Checksum, TransferError>) -> Void
    ) {
        self.source = source
        self.stream = stream
        self.range = range
        digest = OrderedDigest(DurableDigest(algorithm))
        self.then = then
        position = Mutex(range.lowerBound)
    }

    /// Takes the bytes that are there. The pipe calls the function again once there are more.
    func read() {
        let size = 16 << 10
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
            while true {
                let offset = position.withLock { $0 }
                let left = range.upperBound - offset
                guard left > 0 else {
                    return end(
                        digest.whole(range.upperBound - range.lowerBound).map { .success($0) }
                            ?? .failure(TransferError(.internalFault, "no digest could be made of the source")))
                }
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(size), left))])
                switch stream.pipe.take(into: part, at: offset, wake: { self.read() }) {
                case .bytes(let count):
                    digest.add(UnsafeRawBufferPointer(rebasing: part[..<count]), at: offset - range.lowerBound)
                    position.withLock { $0 = offset + Int64(count) }
                case .later: return
                case .failed(let error): return end(.failure(error))
                case .gone:
                    return end(.failure(TransferError(.cancelled, "the reading of the source was given up")))
                }
            }
        }
    }

    private func end(_ result: Result<Checksum, TransferError>) {
        source.ended(stream)
        stream.close()
        then(result)
    }
}
