import Synchronization
import TransferCore
import TransferCrypto

/// The digest of a file whose bytes come in their order, some of them perhaps twice.
final class OrderedDigest: Sendable {
    private let state: Mutex<DurableDigest>

    init(_ digest: DurableDigest) { state = Mutex(digest) }

    /// The digest of all bytes that have come in their order.
    var current: DurableDigest { state.withLock { $0 } }

    /// Adds the bytes that follow what has come. Bytes behind a gap are ignored.
    ///
    /// - Returns: The number of bytes in the digest now.
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

    /// Returns the digest of the whole file.
    ///
    /// - Parameter size: The length of the file in bytes.
    /// - Returns: `nil` until all bytes have come.
    func whole(_ size: Int64) -> Checksum? {
        state.withLock { $0.count == size ? $0.checksum : nil }
    }
}
