/// The times at which something is looked for again that a flood of news calls for: the first looks at once, and further
/// ones after pauses that double. A time of rest ends the flood.
package struct RescanPace: Sendable {
    /// The looks that a flood may have at once.
    package static let burst = 8
    private static let firstPause = Duration.milliseconds(500)

    private let longest: Duration
    private var last: MonotonicTime?
    private var looks = 0
    private var pause = Duration.zero

    /// - Parameter longest: The longest pause, and the rest that ends a flood.
    package init(longest: Duration) { self.longest = longest }

    /// - Returns: The time of the next look; `now` where it may be made at once.
    package func due(at now: MonotonicTime) -> MonotonicTime {
        guard let last else { return now }
        return max(now, last + pause)
    }

    /// A look is made.
    package mutating func looked(at now: MonotonicTime) {
        if let last, now - last > longest + pause { (looks, pause) = (0, .zero) }
        last = now
        looks += 1
        if looks >= Self.burst { pause = min(max(Self.firstPause, pause * 2), max(longest, Self.firstPause)) }
    }
}
