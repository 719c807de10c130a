import Synchronization
public import TransferCore
public import TransferEventLoop

/// A bound on bytes a second that several transfers on several loops share: a token bucket.
public final class RateLimiter: Sendable {
    private struct Bucket {
        /// Bytes a second.
        var rate: Double
        var tokens: Double
        var filled: MonotonicTime

        /// A quarter of a second's worth may go at once.
        var capacity: Double { max(rate / 4, 1) }

        mutating func fill(now: MonotonicTime) {
            tokens = min(capacity, tokens + (now - filled).inSeconds * rate)
            filled = now
        }
    }

    private let bucket: Mutex<Bucket>

    /// - Parameter rate: Bytes a second, at least 1.
    public init(rate: Int64, now: MonotonicTime = .now) {
        var bucket = Bucket(rate: Double(max(1, rate)), tokens: 0, filled: now)
        bucket.tokens = bucket.capacity
        self.bucket = Mutex(bucket)
    }

    /// Bytes a second; infinite where there is no bound.
    public var rate: Double {
        bucket.withLock { $0.rate < .greatestFiniteMagnitude ? $0.rate : .infinity }
    }

    /// Changes the bound for the bytes that come from now on. A transfer that pauses under the old one has to be told
    /// (``ExchangeHandle/rateChanged()``).
    ///
    /// - Parameter rate: Bytes a second, at least 1; `nil` for none.
    public func setRate(_ rate: Int64?, now: MonotonicTime = .now) {
        bucket.withLock { bucket in
            bucket.fill(now: now)
            bucket.rate = rate.map { Double(max(1, $0)) } ?? .greatestFiniteMagnitude
            bucket.tokens = min(bucket.tokens, bucket.capacity)
        }
    }

    /// Takes the bytes, which have moved already.
    ///
    /// - Returns: When the next ones may move, or `nil` for at once.
    func take(_ count: Int, now: MonotonicTime = .now) -> MonotonicTime? {
        bucket.withLock { bucket in
            bucket.fill(now: now)
            bucket.tokens -= Double(count)
            guard bucket.tokens < 0 else { return nil }
            return now + .milliseconds(Int64(-bucket.tokens / bucket.rate * 1000) + 1)
        }
    }
}
