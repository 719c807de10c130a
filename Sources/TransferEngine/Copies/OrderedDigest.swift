import Synchronization
import TransferCore
import TransferCrypto

/// The digest of a file whose bytes come in their order, some of them perhaps twice.
final class OrderedDigest: Sendable {
    private let state: Mutex<DurableDigest>

    init(_ digest: DurableDigest) { state = Mutex(digest) }

    /// The digest of all bytes that have come in their order.
    var current: DurableDigest { state.withLock { $0 } }

    /// Takes those of the bytes that follow what has come; a gap is never closed.
    ///
    /// - Returns: How many are in it now.
    @discardableResult
    func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int64 {
        state.withLock { digest in
            let known = digest.count - offset
            if known >= 0, known < Int64(bytes.count) {
                digest.update(UnsafeRawBufferPointer(rebasing: bytes[Int(known)...]))
            }
            return digest.count
        }
    }

    /// - Parameter size: Bytes of the file.
    /// - Returns: `nil` until all of them have come.
    func whole(_ size: Int64) -> Checksum? {
        state.withLock { $0.count == size ? $0.checksum : nil }
    }
}
