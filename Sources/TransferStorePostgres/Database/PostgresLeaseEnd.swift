import Synchronization
package import TransferCore
import TransferEventLoop

/// The end of this process's lease by its own clock, counted from the request for the renewal. So it is never later
/// than by the database's clock.
package final class PostgresLeaseEnd: Sendable {
    /// The end of the lease; the beginning of the clock, and so long over, where there is none.
    private let end = Mutex(MonotonicTime(nanoseconds: 0))

    package init() {}

    package var time: MonotonicTime { end.withLock { $0 } }

    package func renewed(until time: MonotonicTime) { end.withLock { $0 = max($0, time) } }

    /// Ends the lease, because another process took over the claims of this one.
    package func lost() { end.withLock { $0 = MonotonicTime(nanoseconds: 0) } }
}
