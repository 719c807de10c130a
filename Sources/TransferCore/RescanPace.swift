/// The times of repeated scans during a burst of notifications. The first scans run at once, and further ones after
/// pauses that double. A quiet period ends the burst.
package struct RescanPace: Sendable {
    /// The number of scans in a burst that run at once.
    package static let burst = 8
    private static let firstPause = Duration.milliseconds(500)

    private let longest: Duration
    private var last: MonotonicTime?
    private var looks = 0
    private var pause = Duration.zero

    /// Creates a pace.
    ///
    /// - Parameter longest: The longest pause, and also the quiet period that ends a burst.
    package init(longest: Duration) { self.longest = longest }

    /// Returns the time of the next scan.
    ///
    /// - Returns: The time; `now` where the scan may run at once.
    package func due(at now: MonotonicTime) -> MonotonicTime {
        guard let last else { return now }
        return max(now, last + pause)
    }

    /// Records that a scan runs.
    package mutating func looked(at now: MonotonicTime) {
        if let last, now - last > longest + pause { (looks, pause) = (0, .zero) }
        last = now
        looks += 1
        if looks >= Self.burst { pause = min(max(Self.firstPause, pause * 2), max(longest, Self.firstPause)) }
    }
}
