/// What can be asked of jobs from another terminal.
public enum QueueVerb: String, Sendable, Hashable, CaseIterable {
    case pause, resume, cancel
    /// A fresh start for what failed, was skipped or cancelled, or waits for its next attempt.
    case retry
    /// The same for what failed or was skipped.
    case retryFailed
}

extension QueueVerb {
    /// The states of jobs that no process has in which it changes something. A failed job of a watched folder that is
    /// tried again by itself can be cancelled too.
    var states: [JobState] {
        switch self {
        case .pause: [.queued, .waiting, .blocked]
        case .resume: [.paused]
        case .cancel: [.queued, .waiting, .blocked, .paused]
        case .retry: [.waiting, .failed, .skipped, .cancelled]
        case .retryFailed: [.failed, .skipped]
        }
    }
}

/// A command for one job, or for a whole batch.
struct QueueCommand: Sendable, Hashable {
    let id: Int64
    let verb: QueueVerb
    let batch: Int64
    /// An identity; `nil` means every job of the batch.
    let job: String?
}
