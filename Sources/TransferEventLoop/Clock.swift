import Glibc
public import TransferCore

extension MonotonicTime {
    /// Now, by `CLOCK_BOOTTIME`, which goes on while the machine is suspended: a wait of an hour is over after a night in
    /// which the lid was closed.
    public static var now: MonotonicTime { read(CLOCK_BOOTTIME) }

    /// Now, by `CLOCK_MONOTONIC`, which stands still while the machine is suspended: for protocols that ask for it.
    public static var awake: MonotonicTime { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> MonotonicTime {
        var time = timespec()
        clock_gettime(clock, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// Wall-clock time.
public enum WallClock {
    /// Milliseconds since 1970.
    public static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Seconds since 1970, with their fraction.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Seconds since 1970.
    public static var seconds: Int64 { milliseconds / 1000 }
}
