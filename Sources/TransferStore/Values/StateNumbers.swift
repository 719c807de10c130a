package import TransferJobs

/// The numbers of states as SQL text uses them, in one place beside the types themselves.
package enum JobStates {
    package static let queued = JobState.queued.rawValue
    package static let claimed = JobState.claimed.rawValue
    package static let waiting = JobState.waiting.rawValue
    package static let blocked = JobState.blocked.rawValue
    package static let paused = JobState.paused.rawValue
    package static let done = JobState.done.rawValue
    package static let failed = JobState.failed.rawValue
    package static let skipped = JobState.skipped.rawValue
    package static let cancelled = JobState.cancelled.rawValue

    /// The number below which are all states of jobs that have not ended.
    package static let firstEnded = JobState.allCases.filter(\.hasEnded).map(\.rawValue).min() ?? 0
    /// The states of jobs that have not ended and that no process has claimed.
    package static let unclaimed = list(unclaimedStates)
    package static let unclaimedStates: [JobState] = [.queued, .waiting, .blocked, .paused]

    /// Returns numbers of states for `IN (…)`.
    package static func list(_ states: [JobState]) -> String {
        states.map { String($0.rawValue) }.joined(separator: ", ")
    }
}

package enum HistoryStates {
    package static let open = HistoryState.open.rawValue
    package static let confirmed = HistoryState.confirmed.rawValue
    package static let failed = HistoryState.failed.rawValue
    package static let leftAlone = HistoryState.leftAlone.rawValue
}

extension JobState {
    /// The state of a stored number; a number of a newer version counts as ready.
    package init(stored: Int) { self = JobState(rawValue: stored) ?? .queued }
}
