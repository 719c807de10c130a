import TransferCore
import TransferEngine
import TransferQueue

/// The repetitions of a request that asks for an answer, as curl counts them.
struct AnswerRetries {
    /// The time from the first attempt after which no further one begins.
    var limit: Duration?
    private var left: Int
    private var pause: Duration
    private let longest: Duration
    private let isForAll: Bool

    /// The statuses after which a request is repeated.
    private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]

    /// Creates a plan.
    ///
    /// - Parameter isForAll: Whether every failure is repeated (`--retry-all-errors`).
    init(_ settings: RetrySettings, isForAll: Bool) {
        left = settings.limit ?? 0
        pause = settings.scale ?? .seconds(1)
        longest = settings.maxDelay ?? .seconds(600)
        self.isForAll = isForAll
    }

    /// Returns the time before the next attempt; `nil` for no further one.
    ///
    /// - Parameter elapsed: The time since the first attempt began.
    mutating func delay(after facts: AnswerFacts, elapsed: Duration) -> Duration? {
        let asked = facts.outcome.head?.value("Retry-After").flatMap { Int64($0) }.map { Duration.seconds($0) }
        guard left > 0, !facts.isClosed, isWorthOne(facts) else { return nil }
        let delay = max(min(pause, longest), asked ?? .zero)
        if let limit, elapsed + delay > limit { return nil }
        left -= 1
        pause = min(pause * 2, longest)
        return delay
    }

    private func isWorthOne(_ facts: AnswerFacts) -> Bool {
        switch facts.outcome.result {
        case .failure(let error): error.isTransient || isForAll
        case .success(let head): Self.statuses.contains(head.status) || isForAll && facts.isRefused
        }
    }
}
