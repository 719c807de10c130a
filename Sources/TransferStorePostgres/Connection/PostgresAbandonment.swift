import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// The end of waits for a database, told by another thread: an eventfd(2) that every wait looks at beside its socket.
package final class PostgresAbandonment: Sendable {
    let descriptor: Int32
    private let isDone = Atomic(false)

    package init() { descriptor = transfer_eventfd() }

    deinit { close(descriptor) }

    /// Whether nobody waits any more.
    package var isTold: Bool { isDone.load(ordering: .acquiring) }

    /// Ends what is waited for, now and later. For any thread.
    package func tell() {
        isDone.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Blocks for that long.
    ///
    /// - Returns: Whether the time was waited for to its end.
    package func rest(_ time: Duration) -> Bool {
        let limit = MonotonicTime.now + time
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !isTold {
            let left = (limit - .now).inMilliseconds
            guard left > 0 else { return true }
            _ = poll(&waited, 1, Int32(clamping: left))
        }
        return false
    }
}
