/// A command that another process can give to jobs.
public enum QueueVerb: String, Sendable, Hashable, CaseIterable {
    case pause, resume, cancel
    /// Failed, skipped and cancelled jobs start anew, and so do those that wait for their next attempt.
    case retry
    /// Failed and skipped jobs start anew.
    case retryFailed
}

extension QueueVerb {
    /// The states in which the command changes a job that no process has claimed. A failed job of a watched folder that
    /// will be retried automatically can be cancelled too.
    package var states: [JobState] {
        switch self {
        case .pause: [.queued, .waiting, .blocked]
        case .resume: [.paused]
        case .cancel: [.queued, .waiting, .blocked, .paused]
        case .retry: [.waiting, .failed, .skipped, .cancelled]
        case .retryFailed: [.failed, .skipped]
        }
    }

    /// Returns whether the command can change a job in this state. For an active job, only its process can decide more.
    package func changes(_ state: JobState) -> Bool {
        switch (self, state) {
        case (_, .claimed), (.pause, .queued), (.pause, .waiting), (.pause, .blocked), (.resume, .paused): true
        case (.cancel, .queued), (.cancel, .waiting), (.cancel, .blocked), (.cancel, .paused), (.cancel, .failed): true
        case (.retry, .waiting), (.retry, .failed), (.retry, .skipped), (.retry, .cancelled): true
        case (.retryFailed, .failed), (.retryFailed, .skipped): true
        default: false
        }
    }
}

/// A command for one job, or for a whole batch.
package struct QueueCommand: Sendable, Hashable {
    package let id: Int64
    package let verb: QueueVerb
    package let batch: Int64
    /// The job's identity; `nil` means every job of the batch.
    package let job: String?

    package init(id: Int64, verb: QueueVerb, batch: Int64, job: String?) {
        self.id = id
        self.verb = verb
        self.batch = batch
        self.job = job
    }
}
