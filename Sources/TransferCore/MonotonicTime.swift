/// A moment on a monotonic clock, in nanoseconds. It is a plain value, so that state machines receive the time as an
/// argument and tests can choose it.
public struct MonotonicTime: Sendable, Hashable, Comparable, Codable {
    /// The nanoseconds since an arbitrary start.
    public var nanoseconds: Int64

    /// Creates a moment from nanoseconds since an arbitrary start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns whether one moment is earlier than the other.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the duration between two moments.
    public static func - (left: Self, right: Self) -> Duration { .nanoseconds(left.nanoseconds - right.nanoseconds) }

    /// Returns the moment after a duration, limited to the largest value instead of overflowing.
    public static func + (left: Self, right: Duration) -> Self {
        let (seconds, attoseconds) = right.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, overflew) = left.nanoseconds.addingReportingOverflow(nanoseconds)
        return Self(nanoseconds: overflow || overflowed || overflew ? (seconds < 0 ? .min : .max) : sum)
    }
}
