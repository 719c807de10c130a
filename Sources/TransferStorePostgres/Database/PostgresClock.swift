package import TransferCore
import TransferEventLoop

/// The database's clock, by which all leases and waits are: those of the machines may differ.
package enum PostgresClock {
    /// The time in SQL: milliseconds since 1970.
    package static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// The same in microseconds.
    package static let microseconds = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// Milliseconds from now until `due`, rounded up: nothing is due before its time.
    package static func wait(until due: MonotonicTime) -> Int64 {
        let left = (due - .now).inMilliseconds
        return left < 0 ? 0 : left + 1
    }

    /// A moment in milliseconds since 1970 by this machine's clock, which its files go by and what servers say is compared
    /// with.
    ///
    /// - Parameter age: Milliseconds that had gone by since then, by the database's clock, a moment ago.
    package static func time(ago age: Int64) -> Int64 { WallClock.milliseconds - age }

    /// - Parameter wait: Milliseconds that were left by the database's clock a moment ago.
    package static func due(in wait: Int64) -> MonotonicTime { .now + .milliseconds(max(0, wait)) }
}
