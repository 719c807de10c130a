import CTransferLinux
import Glibc
import TransferCore
import TransferStore

/// Locks that show which processes of this machine live. Each process locks one byte of a file beside the database, at
/// the number of its lease. The kernel releases the lock when the process ends in any way. Every container that has the
/// folder sees the lock, although process numbers mean nothing there (fcntl(2), open file description locks).
package final class LeaseLocks: Sendable {
    /// The file; `nil` where it cannot be made, or the file system has no locks.
    private let descriptor: Int32?

    /// - Parameter path: The path of the file; `nil` for a database that no other process can open.
    package init(path: String?) {
        let opened = path.map { transfer_open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) } ?? -1
        descriptor = opened >= 0 ? opened : nil
    }

    deinit { giveUp() }

    /// - Returns: Whether other processes can see by the lock that this process lives.
    package func hold(_ generation: Int64) -> Bool {
        descriptor.map { transfer_set_byte_lock($0, generation, 1) == 0 } ?? false
    }

    /// Returns whether another process holds the lock of a lease; `nil` where that is unknown.
    package func isHeld(_ generation: Int64) -> Bool? {
        switch descriptor.map({ transfer_is_byte_locked($0, generation) }) {
        case 1: true
        case 0: false
        default: nil
        }
    }

    package func release(_ generation: Int64) {
        if let descriptor { _ = transfer_set_byte_lock(descriptor, generation, 0) }
    }

    private func giveUp() { if let descriptor { close(descriptor) } }
}
