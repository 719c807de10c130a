/// The pauses between attempts to reach a service that is away, such as the database of a queue: they double up to a bound
/// and are spread at random, so that many processes do not come back at the same moment.
///
/// An attempt that reaches the service ends the wait at once; the bound is how much later than the service it comes.
package struct ReconnectPauses: Sendable, Hashable {
    /// The bound of processes that wait for the database of a queue.
    package static let longest = Duration.seconds(30)

    private let rule: RetryRule
    private var failures = 0

    /// - Parameters:
    ///   - first: The pause after the first failure, before it is spread over its upper half.
    ///   - longest: The longest pause.
    package init(first: Duration = .seconds(1), longest: Duration = ReconnectPauses.longest) {
        rule = RetryRule(limit: .max, scale: first.inSeconds, maxDelay: longest.inSeconds)
    }

    /// The pause after another failure.
    ///
    /// - Parameter random: A number from 0 up to 1.
    package mutating func next(random: Double = .random(in: 0..<1)) -> Duration {
        defer { failures = min(failures + 1, 64) }
        return rule.delay(retriesSpent: failures, retryAfter: nil, random: random)
    }

    /// The service has answered.
    package mutating func reset() { failures = 0 }
}
