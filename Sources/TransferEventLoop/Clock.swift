import CTransferLinux
import Glibc
public import TransferCore

extension MonotonicTime {
    /// Now, by `CLOCK_BOOTTIME`, which goes on while the machine is suspended: a wait of an hour is over after a night in
    /// which the lid was closed.
    public static var now: MonotonicTime { read(CLOCK_BOOTTIME) }

    /// Now, by `CLOCK_MONOTONIC`, which stands still while the machine is suspended: for protocols that ask for it.
    public static var awake: MonotonicTime { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> MonotonicTime {
        MonotonicTime(nanoseconds: transfer_clock(clock))
    }
}

/// Wall-clock time.
public enum WallClock {
    /// Milliseconds since 1970.
    public static var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// Nanoseconds since 1970.
    public static var nanoseconds: Int64 { transfer_clock(CLOCK_REALTIME) }

    /// Seconds since 1970, with their fraction.
    public static var now: Double { Double(nanoseconds) / 1e9 }

    /// Seconds since 1970.
    public static var seconds: Int64 { milliseconds / 1000 }
}
