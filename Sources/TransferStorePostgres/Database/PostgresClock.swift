package import TransferCore
import TransferEventLoop

/// The database's clock, by which all leases and waits are measured, because the clocks of machines may differ.
package enum PostgresClock {
    /// The time in SQL, in milliseconds since 1970.
    package static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// The time in SQL, in microseconds since 1970.
    package static let microseconds = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// Returns the milliseconds from now until `due`, rounded up, because nothing is due before its time.
    package static func wait(until due: MonotonicTime) -> Int64 {
        let left = (due - .now).inMilliseconds
        return left < 0 ? 0 : left + 1
    }

    /// Returns a moment in milliseconds since 1970 by this machine's clock, which dates its files and is compared with
    /// the times of servers.
    ///
    /// - Parameter age: The milliseconds since that moment, by the database's clock, as just read.
    package static func time(ago age: Int64) -> Int64 { WallClock.milliseconds - age }

    /// - Parameter wait: The milliseconds that were left by the database's clock, as just read.
    package static func due(in wait: Int64) -> MonotonicTime { .now + .milliseconds(max(0, wait)) }
}
