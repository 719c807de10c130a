package import TransferCore

/// A limit on the number of requests that start per second, with bursts of at most one second's worth.
package struct StartRate: Sendable {
    private let perSecond: Double
    private var tokens: Double
    private var filled: MonotonicTime

    package init(perSecond: Double, now: MonotonicTime) {
        // The rate is kept between one a day and practically unlimited, so that the next start always has a time.
        self.perSecond = perSecond >= 1 / 86_400 ? min(perSecond, 1e9) : 1 / 86_400
        tokens = 1
        filled = now
    }

    /// Takes one start, or returns the time when the next is allowed.
    package mutating func take(now: MonotonicTime) -> MonotonicTime? {
        if let next = next(now: now) { return next }
        tokens = tokens(now) - 1
        filled = now
        return nil
    }

    /// Returns the time of the next start.
    ///
    /// - Returns: The time when the next start is allowed; `nil` if it is allowed now.
    package func next(now: MonotonicTime) -> MonotonicTime? {
        let tokens = tokens(now)
        return tokens < 1 ? now + .milliseconds(Int64((1 - tokens) / perSecond * 1000) + 1) : nil
    }

    /// Returns whether the state equals that without any start.
    package func isRested(now: MonotonicTime) -> Bool { tokens(now) >= max(1, perSecond) }

    private func tokens(_ now: MonotonicTime) -> Double {
        min(max(1, perSecond), tokens + (now - filled).inSeconds * perSecond)
    }
}
