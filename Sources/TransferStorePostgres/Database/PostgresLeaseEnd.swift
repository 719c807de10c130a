import Synchronization
package import TransferCore
import TransferEventLoop

/// The end of this process's lease by its own clock, which is never later than by the database's: it's counted from when the
/// renewal was asked for.
package final class PostgresLeaseEnd: Sendable {
    /// The beginning of the clock, and so long over, where there is none.
    private let end = Mutex(MonotonicTime(nanoseconds: 0))

    package init() {}

    package var time: MonotonicTime { end.withLock { $0 } }

    package func renewed(until time: MonotonicTime) { end.withLock { $0 = max($0, time) } }

    /// Another process took over what this one had.
    package func lost() { end.withLock { $0 = MonotonicTime(nanoseconds: 0) } }
}
