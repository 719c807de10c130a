/// The rule that says whether a failed attempt is made again and after how long: the same for requests and for the
/// queue.
public struct RetryRule: Sendable, Hashable {
    /// Attempts after the first.
    public var limit: Int
    /// At least 2.
    public var base: Int
    /// Seconds that the exponential is multiplied with.
    public var scale: Double
    /// Seconds; `nil` lets the delay grow without bound.
    public var maxDelay: Double?
    /// Spreads a delay at random over its upper half, so that many clients don't come back at the same moment.
    public var jitter: Bool
    /// Whether Retry-After (RFC 9110 §10.2.3) lengthens the delay.
    public var honoursRetryAfter: Bool
    /// Seconds that waits which a server asks for may take in all since the last byte that was made durable.
    public var maxWait: Double
    public var methods: Set<String>
    /// Statuses worth another try; `nil` judges them by class (``StatusRule/mayPass(_:)``).
    public var statusCodes: Set<Int>?

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

    /// RFC 9110 §9.2.2.
    public static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]

    public enum Decision: Sendable, Hashable {
        case retry(after: Duration)
        /// The server asked for it: time is spent, and no attempt.
        case wait(after: Duration)
        case giveUp(Reason)
    }

    public enum Reason: Sendable, Hashable {
        case permanent, methodNotRepeatable, limitReached, waitLimitReached
    }

    /// - Parameters:
    ///   - retriesSpent: How often it was tried again already; 0 after the first attempt.
    ///   - bodyLeft: Whether any byte of the request's body was sent. A request none of whose body left may go again
    ///     whatever its method (RFC 9110 §9.2.2: the client knows that it was not applied), unless it was answered; one
    ///     that was answered may where the answer says so (``StatusRule/saysNothingWasDone(_:)``).
    ///   - waited: What the waits took already that servers asked for.
    ///   - random: A number in 0..<1.
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

    /// Seconds: `base` to the power of `retriesSpent`, times `scale`.
    public func backoff(retriesSpent: Int) -> Double {
        var seconds = scale
        for _ in 0..<min(retriesSpent, 64) { seconds *= Double(base) }
        return seconds
    }

    /// `base` to the power of `retriesSpent`, times `scale`, capped and spread; never shorter than Retry-After.
    public func delay(retriesSpent: Int, retryAfter: Duration?, random: Double) -> Duration {
        var seconds = min(backoff(retriesSpent: retriesSpent), maxDelay ?? 1e9)
        if jitter { seconds *= 0.5 + random / 2 }
        let backoff = Duration.milliseconds(Int64(seconds * 1000))
        guard honoursRetryAfter, let retryAfter else { return backoff }
        return max(backoff, retryAfter)
    }

    /// The longest that the delays take in all which are left after so many retries, without those that a server asks for.
    public func patience(retriesSpent: Int) -> Duration {
        // Beyond a year nobody counts.
        let most = 366.0 * 86_400
        var (seconds, spent) = (0.0, max(0, retriesSpent))
        while spent < limit, seconds < most {
            let delay = min(backoff(retriesSpent: spent), maxDelay ?? most)
            // From here on all are alike.
            guard delay > 0, delay < maxDelay ?? most else {
                return rest(seconds + Double(limit - spent) * delay, most)
            }
            seconds += delay
            spent += 1
        }
        return rest(seconds, most)
    }

    private func rest(_ seconds: Double, _ most: Double) -> Duration { .milliseconds(Int64(min(seconds, most) * 1000)) }

    /// ``maxWait`` as a duration.
    public var longestWait: Duration { .milliseconds(Int64(min(max(0, maxWait), 1e12) * 1000)) }

    /// How long to wait where a server asks for it: as long as it says, but not shorter than our own backoff would be after
    /// what was waited already, and not longer than `most`.
    ///
    /// The delays of a backoff with base 2 come to the next one less `scale`, so that the time waited stands for their
    /// number.
    public func wait(asked: Duration, waited: Duration, atMost most: Duration, random: Double) -> Duration {
        var seconds = min(waited.inSeconds * Double(base - 1) + scale, maxDelay ?? 1e9)
        if jitter { seconds *= 0.5 + random / 2 }
        return min(max(.milliseconds(Int64(seconds * 1000)), asked), max(.zero, most))
    }

    /// Reads a Retry-After value: seconds, or a date (RFC 9110 §10.2.3). Dates in the past are zero.
    public static func retryAfter(_ text: String, now: Int64) -> Duration? {
        if let seconds = Int64(text) { return seconds >= 0 ? .seconds(min(seconds, 366 * 86_400)) : nil }
        // More than any number holds is still a number.
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return .seconds(366 * 86_400) }
        return HTTPDate.parse(text, now: now).map { .seconds(max(0, min($0 - now, 366 * 86_400))) }
    }
}
