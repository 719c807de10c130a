import Synchronization
public import TransferCore
public import TransferEventLoop

/// A bound on bytes a second that several transfers on several loops share: a token bucket.
public final class RateLimiter: Sendable {
    private struct Bucket {
        /// The rate in bytes a second.
        var rate: Double
        var tokens: Double
        var filled: MonotonicTime

        /// The most bytes that may move at once: a quarter of a second's worth.
        var capacity: Double { max(rate / 4, 1) }

        mutating func fill(now: MonotonicTime) {
            tokens = min(capacity, tokens + (now - filled).inSeconds * rate)
            filled = now
        }
    }

    private let bucket: Mutex<Bucket>

    /// Creates a limiter.
    ///
    /// - Parameter rate: The bound in bytes a second, at least 1.
    public init(rate: Int64, now: MonotonicTime = .now) {
        var bucket = Bucket(rate: Double(max(1, rate)), tokens: 0, filled: now)
        bucket.tokens = bucket.capacity
        self.bucket = Mutex(bucket)
    }

    /// The bound in bytes a second; infinite where there is none.
    public var rate: Double {
        bucket.withLock { $0.rate < .greatestFiniteMagnitude ? $0.rate : .infinity }
    }

    /// Changes the bound for the bytes that come from now on.
    ///
    /// A transfer that pauses under the old bound must be notified (``ExchangeHandle/rateChanged()``).
    ///
    /// - Parameter rate: The bound in bytes a second, at least 1; `nil` for none.
    public func setRate(_ rate: Int64?, now: MonotonicTime = .now) {
        bucket.withLock { bucket in
            bucket.fill(now: now)
            bucket.rate = rate.map { Double(max(1, $0)) } ?? .greatestFiniteMagnitude
            bucket.tokens = min(bucket.tokens, bucket.capacity)
        }
    }

    /// Counts bytes that have moved already.
    ///
    /// - Returns: The time at which the next bytes may move, or `nil` for at once.
    func take(_ count: Int, now: MonotonicTime = .now) -> MonotonicTime? {
        bucket.withLock { bucket in
            bucket.fill(now: now)
            bucket.tokens -= Double(count)
            guard bucket.tokens < 0 else { return nil }
            return now + .milliseconds(Int64(-bucket.tokens / bucket.rate * 1000) + 1)
        }
    }
}
