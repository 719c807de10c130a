import TransferCore

/// How many refreshes may begin in a span of time: pure, the time is an argument.
struct RefreshLimit {
    /// Seconds.
    let interval: Double
    let attempts: Int
    private var starts: [MonotonicTime] = []

    init(interval: Double, attempts: Int) {
        self.interval = interval
        self.attempts = attempts
    }

    /// Whether another one may begin. If so, it's counted.
    mutating func admits(at now: MonotonicTime) -> Bool {
        starts.removeAll { (now - $0).inSeconds > interval }
        guard starts.count < attempts else { return false }
        starts.append(now)
        return true
    }
}
