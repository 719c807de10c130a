import Synchronization
public import TransferCore
public import TransferEventLoop

/// A bound on bytes a second that several transfers on several loops share: a token bucket.
public final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: MonotonicTime
    }

    /// Bytes a second.
    public let rate: Int64
    private let capacity: Double
    private let bucket: Mutex<Bucket>

    /// - Parameter rate: Bytes a second, at least 1.
    public init(rate: Int64, now: MonotonicTime = .now) {
        self.rate = max(1, rate)
        // A quarter of a second's worth may go at once.
        capacity = max(Double(self.rate) / 4, 1)
        bucket = Mutex(Bucket(tokens: capacity, filled: now))
    }

    /// Takes the bytes, which have moved already.
    ///
    /// - Returns: When the next ones may move, or `nil` for at once.
    func take(_ count: Int, now: MonotonicTime = .now) -> MonotonicTime? {
        bucket.withLock { bucket in
            let elapsed = (now - bucket.filled).inSeconds
            bucket.tokens = min(capacity, bucket.tokens + elapsed * Double(rate)) - Double(count)
            bucket.filled = now
            guard bucket.tokens < 0 else { return nil }
            return now + .milliseconds(Int64(-bucket.tokens / Double(rate) * 1000) + 1)
        }
    }
}
