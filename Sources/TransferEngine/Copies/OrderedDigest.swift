import Synchronization
import TransferCore
import TransferCrypto

/// The digest of a file whose bytes come in their order, some of them perhaps twice.
///
/// `@unchecked Sendable`: everything but the lock is touched while it's held only.
final class OrderedDigest: @unchecked Sendable {
    private let lock = Mutex(())
    private let algorithm: DigestAlgorithm
    private var digest: Digest?
    /// Bytes that are in it.
    private var count: Int64 = 0
    private var finished: Checksum?

    init(_ algorithm: DigestAlgorithm) { self.algorithm = algorithm }

    /// Takes those of the bytes that follow what has come; a gap is never closed.
    func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        lock.withLock { _ in
            guard finished == nil, offset <= count, offset + Int64(bytes.count) > count else { return }
            if digest == nil, count == 0 { digest = try? Digest(algorithm) }
            digest?.update(UnsafeRawBufferPointer(rebasing: bytes[Int(count - offset)...]))
            count = offset + Int64(bytes.count)
        }
    }

    /// - Parameter size: Bytes of the file.
    /// - Returns: `nil` until all of them have come.
    func whole(_ size: Int64) -> Checksum? {
        lock.withLock { _ in
            if finished == nil, count == size {
                if size == 0 { digest = try? Digest(algorithm) }
                finished = try? digest?.finish()
                digest = nil
            }
            return finished
        }
    }
}
