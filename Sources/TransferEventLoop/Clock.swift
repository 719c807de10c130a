import Glibc
public import TransferCore

extension MonotonicTime {
    /// The current time by `CLOCK_BOOTTIME`, which advances while the machine is suspended. A wait of an hour thus ends
    /// even if the machine sleeps meanwhile.
    public static var now: MonotonicTime { read(CLOCK_BOOTTIME) }

    /// The current time by `CLOCK_MONOTONIC`, which stops while the machine is suspended, for protocols that require
    /// this clock.
    public static var awake: MonotonicTime { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> MonotonicTime {
        MonotonicTime(nanoseconds: ClockSource.read(clock))
    }
}

/// The wall-clock time.
public enum WallClock {
    /// The milliseconds since 1970.
    public static var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The nanoseconds since 1970.
    public static var nanoseconds: Int64 { ClockSource.read(CLOCK_REALTIME) }

    /// The seconds since 1970, with their fraction.
    public static var now: Double { Double(nanoseconds) / 1e9 }

    /// The whole seconds since 1970.
    public static var seconds: Int64 { milliseconds / 1000 }
}
