import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// A signal by which another thread ends waits for a database: an eventfd(2) that every wait polls beside its socket.
package final class PostgresCancellation: Sendable {
    let descriptor: Int32
    private let isDone = Atomic(false)

    package init() { descriptor = transfer_eventfd() }

    deinit { close(descriptor) }

    /// Whether the waits were ended.
    package var isReported: Bool { isDone.load(ordering: .acquiring) }

    /// Ends present and later waits. May be called by any thread.
    package func tell() {
        isDone.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until another descriptor is ready.
    ///
    /// - Parameter limit: The end of the wait; `nil` for none.
    /// - Returns: Whether the descriptor is ready before the time is over.
    /// - Throws: `TransferError` when the wait was abandoned.
    func wait(for other: Int32, _ events: Int16, until limit: MonotonicTime?) throws -> Bool {
        let alarm = limit.flatMap(BootAlarm.init)
        var waited = [
            pollfd(fd: other, events: events, revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            // The kernel ignores the descriptor -1 (poll(2)).
            pollfd(fd: alarm?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = limit.map { Int32(clamping: max(0, ($0 - .now).inMilliseconds)) } ?? -1
            let ready = poll(&waited, 3, left)
            if ready < 0, errno == EINTR { continue }
            guard waited[1].revents == 0 else {
                throw TransferError(.cancelled, "the wait for the queue's database was ended")
            }
            return ready > 0 && waited[0].revents != 0
        }
    }

    /// Blocks for the given time.
    ///
    /// - Returns: Whether the wait lasted to its end.
    package func rest(_ time: Duration) -> Bool {
        let limit = MonotonicTime.now + time
        let alarm = BootAlarm(limit)
        var waited = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: alarm?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while !isReported {
            let left = (limit - .now).inMilliseconds
            guard left > 0 else { return true }
            _ = poll(&waited, 2, Int32(clamping: left))
        }
        return false
    }
}

/// The end of a wait on the clock that also runs while the machine sleeps, when the time of poll(2) stands still
/// (timerfd_create(2)).
private final class BootAlarm {
    let descriptor: Int32

    /// - Returns: `nil` for a time so near that no machine falls asleep before, and where there is no descriptor left.
    init?(_ time: MonotonicTime) {
        guard time - .now > .seconds(1) else { return nil }
        descriptor = transfer_timerfd()
        guard descriptor >= 0 else { return nil }
        _ = transfer_timerfd_set(descriptor, time.nanoseconds)
    }

    deinit { close(descriptor) }
}
