import TransferCore

/// A limit for the refreshes that may begin in a span of time: pure, the time is an argument.
struct RefreshLimit {
    /// The span of time, in seconds.
    let interval: Double
    let attempts: Int
    private var starts: [MonotonicTime] = []

    init(interval: Double, attempts: Int) {
        self.interval = interval
        self.attempts = attempts
    }

    /// Whether another refresh may begin; if so, it is counted.
    mutating func admits(at now: MonotonicTime) -> Bool {
        starts.removeAll { (now - $0).inSeconds > interval }
        guard starts.count < attempts else { return false }
        starts.append(now)
        return true
    }
}
