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
        tokens = min(max(1, perSecond), tokens + (now - filled).inSeconds * perSecond)
        filled = now
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return now + .milliseconds(Int64((1 - tokens) / perSecond * 1000) + 1)
    }
}
