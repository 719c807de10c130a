/// The pauses between attempts to reach an unreachable service, such as the database of a queue. They double up to a
/// bound and are spread at random, so that many processes do not return at the same moment.
///
/// A successful attempt ends the wait at once. So a process returns at most one longest pause later than the service.
package struct ReconnectPauses: Sendable, Hashable {
    /// The longest pause of processes that wait for the database of a queue.
    package static let longest = Duration.seconds(30)

    private let rule: RetryRule
    private var failures = 0

    /// Creates the pauses of one process.
    ///
    /// - Parameters:
    ///   - first: The pause after the first failure, before it is spread over its upper half.
    ///   - longest: The longest pause.
    package init(first: Duration = .seconds(1), longest: Duration = ReconnectPauses.longest) {
        rule = RetryRule(limit: .max, scale: first.inSeconds, maxDelay: longest.inSeconds)
    }

    /// Returns the pause after another failure.
    ///
    /// - Parameter random: A random number from 0 up to 1.
    package mutating func next(random: Double = .random(in: 0..<1)) -> Duration {
        defer { failures = min(failures + 1, 64) }
        return rule.delay(retriesSpent: failures, retryAfter: nil, random: random)
    }

    /// Resets the pauses after an answer of the service.
    package mutating func reset() { failures = 0 }
}
