/// Where a job stands. The number is what the database holds.
public enum JobState: Int, Sendable, Hashable, CaseIterable {
    /// Ready to start.
    case queued = 0
    /// Taken by a process, which starts, runs and ends it.
    case claimed = 1
    /// Waits until a time, for the next attempt.
    case waiting = 2
    /// Waits for other jobs.
    case blocked = 3
    /// Held until somebody resumes it.
    case paused = 4
    case done = 5
    case failed = 6
    /// A job it needs failed.
    case skipped = 7
    case cancelled = 8

    /// As every answer and every `--json` names it.
    package var name: String {
        switch self {
        case .queued: "queued"
        case .claimed: "claimed"
        case .waiting: "waiting"
        case .blocked: "blocked"
        case .paused: "paused"
        case .done: "done"
        case .failed: "failed"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        }
    }

    /// The states, apart from ``done``, in which a job that has brought its file before may be told to make that whole again.
    package static let repairable: [JobState] = [.queued, .waiting, .failed, .cancelled]

    public var hasEnded: Bool { rawValue >= JobState.done.rawValue }

    /// Where it may go from here. What has ended comes back only when its batch is run again.
    public var successors: Set<JobState> {
        switch self {
        case .queued: [.claimed, .paused, .cancelled]
        case .claimed: [.queued, .waiting, .paused, .done, .failed, .cancelled]
        case .waiting: [.queued, .paused, .cancelled]
        case .blocked: [.queued, .skipped, .paused, .cancelled]
        case .paused: [.queued, .blocked, .cancelled, .skipped]
        case .done, .failed, .skipped, .cancelled: [.queued, .blocked]
        }
    }
}

extension [JobState: Int] {
    package var ended: Int { filter { $0.key.hasEnded }.values.reduce(0, +) }
}
