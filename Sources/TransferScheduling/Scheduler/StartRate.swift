package import TransferCore

/// A bound on how many requests start in a second: at most one second's worth at once.
package struct StartRate: Sendable {
    private let perSecond: Double
    private var tokens: Double
    private var filled: MonotonicTime

    package init(perSecond: Double, now: MonotonicTime) {
        // Between one a day and as good as no bound, so that the next start is always at a time that can be told.
        self.perSecond = perSecond >= 1 / 86_400 ? min(perSecond, 1e9) : 1 / 86_400
        tokens = 1
        filled = now
    }

    /// Takes one start, or says when the next is allowed.
    package mutating func take(now: MonotonicTime) -> MonotonicTime? {
        if let next = next(now: now) { return next }
        tokens = tokens(now) - 1
        filled = now
        return nil
    }

    /// - Returns: When the next start is allowed; `nil` where it is now.
    package func next(now: MonotonicTime) -> MonotonicTime? {
        let tokens = tokens(now)
        return tokens < 1 ? now + .milliseconds(Int64((1 - tokens) / perSecond * 1000) + 1) : nil
    }

    /// Whether it's as if nothing had ever started.
    package func isRested(now: MonotonicTime) -> Bool { tokens(now) >= max(1, perSecond) }

    private func tokens(_ now: MonotonicTime) -> Double {
        min(max(1, perSecond), tokens + (now - filled).inSeconds * perSecond)
    }
}
