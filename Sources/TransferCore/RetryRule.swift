/// The rule that decides whether a failed attempt is repeated and after which delay, both for requests and for the
/// queue.
public struct RetryRule: Sendable, Hashable {
    /// The number of attempts after the first.
    public var limit: Int
    /// The base of the exponential delay; at least 2.
    public var base: Int
    /// The factor of the exponential delay, in seconds.
    public var scale: Double
    /// The longest delay in seconds; `nil` for no limit.
    public var maxDelay: Double?
    /// Whether delays are randomized over their upper half, so that many clients do not return at the same moment.
    public var jitter: Bool
    /// Whether Retry-After (RFC 9110 §10.2.3) lengthens the delay.
    public var honoursRetryAfter: Bool
    /// The total time in seconds that waits requested by servers may take since the last byte became durable.
    public var maxWait: Double
    /// The methods that may be repeated.
    public var methods: Set<String>
    /// The statuses that justify a retry; `nil` judges them by class (``StatusRule/mayPass(_:)``).
    public var statusCodes: Set<Int>?

    /// Creates a rule; the defaults are those of the queue.
    public init(
        limit: Int = 10, base: Int = 2, scale: Double = 1, maxDelay: Double? = 60, jitter: Bool = true,
        honoursRetryAfter: Bool = true, maxWait: Double = 86_400,
        methods: Set<String> = RetryRule.idempotentMethods, statusCodes: Set<Int>? = nil
    ) {
        self.limit = limit
        self.base = max(2, base)
        self.scale = scale
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.honoursRetryAfter = honoursRetryAfter
        self.maxWait = maxWait
        self.methods = methods
        self.statusCodes = statusCodes
    }

    /// The idempotent methods of RFC 9110 §9.2.2.
    public static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]

    /// The decision about a failed attempt.
    public enum Decision: Sendable, Hashable {
        case retry(after: Duration)
        /// A wait that the server asked for, which does not count as an attempt.
        case wait(after: Duration)
        case giveUp(Reason)
    }

    /// The reason for giving up.
    public enum Reason: Sendable, Hashable {
        case permanent, methodNotRepeatable, limitReached, waitLimitReached
    }

    /// Decides whether a failed attempt is repeated.
    ///
    /// - Parameters:
    ///   - retriesSpent: The number of retries so far; 0 after the first attempt.
    ///   - bodyLeft: Whether any byte of the request's body was sent. An unanswered request without sent body bytes may
    ///     be repeated with any method, since it cannot have been applied (RFC 9110 §9.2.2). An answered request may be
    ///     repeated where the response allows it (``StatusRule/saysNothingWasDone(_:)``).
    ///   - waited: The total time of waits that servers have asked for so far.
    ///   - random: A random number in 0..<1.
    public func decide(
        _ error: TransferError, method: String, retriesSpent: Int, bodyLeft: Bool, waited: Duration = .zero,
        random: Double
    ) -> Decision {
        if let status = error.status {
            let mayPass = StatusRule.mayPass(status, asksToWait: error.retryAfter != nil)
            guard statusCodes?.contains(status) ?? mayPass else { return .giveUp(.permanent) }
        } else if !error.isTransient {
            return .giveUp(.permanent)
        }
        let wasNotApplied = error.status.map(StatusRule.saysNothingWasDone) ?? !bodyLeft
        let mayRepeat = methods.contains(method) || wasNotApplied
        guard mayRepeat else { return .giveUp(.methodNotRepeatable) }
        if honoursRetryAfter, limit > 0, let asked = error.retryAfter {
            guard waited < longestWait else { return .giveUp(.waitLimitReached) }
            return .wait(
                after: wait(asked: asked, waited: waited, atMost: longestWait - waited, random: random))
        }
        guard retriesSpent < limit else { return .giveUp(.limitReached) }
        return .retry(after: delay(retriesSpent: retriesSpent, retryAfter: error.retryAfter, random: random))
    }

    /// Returns `base` to the power of `retriesSpent`, times `scale`, in seconds.
    public func backoff(retriesSpent: Int) -> Double {
        var seconds = scale
        for _ in 0..<min(retriesSpent, 64) { seconds *= Double(base) }
        return seconds
    }

    /// Returns `base` to the power of `retriesSpent`, times `scale`, limited and randomized; never less than
    /// Retry-After.
    public func delay(retriesSpent: Int, retryAfter: Duration?, random: Double) -> Duration {
        var seconds = min(backoff(retriesSpent: retriesSpent), maxDelay ?? 1e9)
        if jitter { seconds *= 0.5 + random / 2 }
        let backoff = Duration.milliseconds(Int64(seconds * 1000))
        guard honoursRetryAfter, let retryAfter else { return backoff }
        return max(backoff, retryAfter)
    }

    /// Returns the maximum total of the remaining delays after a number of retries, without those that a server asks
    /// for.
    public func patience(retriesSpent: Int) -> Duration {
        // Totals beyond a year make no difference.
        let most = 366.0 * 86_400
        var (seconds, spent) = (0.0, max(0, retriesSpent))
        while spent < limit, seconds < most {
            let delay = min(backoff(retriesSpent: spent), maxDelay ?? most)
            // From here on, all delays are equal.
            guard delay > 0, delay < maxDelay ?? most else {
                return rest(seconds + Double(limit - spent) * delay, most)
            }
            seconds += delay
            spent += 1
        }
        return rest(seconds, most)
    }

    private func rest(_ seconds: Double, _ most: Double) -> Duration { .milliseconds(Int64(min(seconds, most) * 1000)) }

    /// The value of ``maxWait`` as a duration.
    public var longestWait: Duration { .milliseconds(Int64(min(max(0, maxWait), 1e12) * 1000)) }

    /// Returns the time to wait where a server asks for it: the requested time, but at least our own delay after the
    /// time waited so far, and at most `most`.
    ///
    /// With base 2, the sum of the earlier delays equals the next one minus `scale`. The time waited therefore
    /// determines their number.
    public func wait(asked: Duration, waited: Duration, atMost most: Duration, random: Double) -> Duration {
        var seconds = min(waited.inSeconds * Double(base - 1) + scale, maxDelay ?? 1e9)
        if jitter { seconds *= 0.5 + random / 2 }
        return min(max(.milliseconds(Int64(seconds * 1000)), asked), max(.zero, most))
    }

    /// Parses a Retry-After value: seconds, or a date (RFC 9110 §10.2.3). Dates in the past are zero.
    public static func retryAfter(_ text: String, now: Int64) -> Duration? {
        if let seconds = Int64(text) { return seconds >= 0 ? .seconds(min(seconds, 366 * 86_400)) : nil }
        // A number too large for the type is still a number.
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return .seconds(366 * 86_400) }
        return HTTPDate.parse(text, now: now).map { .seconds(max(0, min($0 - now, 366 * 86_400))) }
    }
}
