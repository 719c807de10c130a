/// The numbers of states as SQL text has them: their one place beside the types themselves.
enum JobStates {
    static let queued = JobState.queued.rawValue
    static let claimed = JobState.claimed.rawValue
    static let waiting = JobState.waiting.rawValue
    static let blocked = JobState.blocked.rawValue
    static let paused = JobState.paused.rawValue
    static let done = JobState.done.rawValue
    static let failed = JobState.failed.rawValue
    static let skipped = JobState.skipped.rawValue
    static let cancelled = JobState.cancelled.rawValue

    /// States of jobs that haven't ended are below this one.
    static let firstEnded = JobState.allCases.filter(\.hasEnded).map(\.rawValue).min() ?? 0
    /// States of jobs that no process has, and that haven't ended.
    static let unclaimed = list([.queued, .waiting, .blocked, .paused])

    /// For `IN (…)`.
    static func list(_ states: [JobState]) -> String { states.map { String($0.rawValue) }.joined(separator: ", ") }
}

enum LedgerStates {
    static let open = LedgerState.open.rawValue
    static let confirmed = LedgerState.confirmed.rawValue
    static let failed = LedgerState.failed.rawValue
    static let leftAlone = LedgerState.leftAlone.rawValue
}

extension JobState {
    /// The state that a number of the database means; one of a newer version is taken for ready.
    init(stored: Int) { self = JobState(rawValue: stored) ?? .queued }
}
