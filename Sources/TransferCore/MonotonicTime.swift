/// A moment on a clock that never goes back, in nanoseconds: a plain value, so that state machines take the time as
/// an argument and tests choose it.
public struct MonotonicTime: Sendable, Hashable, Comparable, Codable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func - (left: Self, right: Self) -> Duration { .nanoseconds(left.nanoseconds - right.nanoseconds) }

    /// Saturates instead of overflowing.
    public static func + (left: Self, right: Duration) -> Self {
        let (seconds, attoseconds) = right.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, overflew) = left.nanoseconds.addingReportingOverflow(nanoseconds)
        return Self(nanoseconds: overflow || overflowed || overflew ? (seconds < 0 ? .min : .max) : sum)
    }
}
