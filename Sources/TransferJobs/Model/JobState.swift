/// The state of a job. The raw value is stored in the database.
public enum JobState: Int, Sendable, Hashable, CaseIterable {
    /// The job is ready to start.
    case queued = 0
    /// A process has claimed the job; it starts, runs and ends it.
    case claimed = 1
    /// The job waits for the time of its next attempt.
    case waiting = 2
    /// The job waits for other jobs.
    case blocked = 3
    /// The job is held until a user resumes it.
    case paused = 4
    case done = 5
    case failed = 6
    /// The job was not run, because a job that it needs failed.
    case skipped = 7
    case cancelled = 8

    /// The state's name in all responses and in the output of `--json`.
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

    /// The states, apart from ``done``, in which a job that brought its file earlier can be asked to repair it.
    package static let repairable: [JobState] = [.queued, .waiting, .failed, .cancelled]

    /// Whether the job has ended: done, failed, skipped or cancelled.
    public var hasEnded: Bool { rawValue >= JobState.done.rawValue }

    /// The states that may follow. An ended job returns only when its batch is run again.
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
