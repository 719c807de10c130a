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
    package var states: [JobState] {
        switch self {
        case .pause: [.queued, .waiting, .blocked]
        case .resume: [.paused]
        case .cancel: [.queued, .waiting, .blocked, .paused]
        case .retry: [.waiting, .failed, .skipped, .cancelled]
        case .retryFailed: [.failed, .skipped]
        }
    }

    /// Whether it means something to a job that stands so. Of what is under way only its process knows more.
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
    /// An identity; `nil` means every job of the batch.
    package let job: String?

    package init(id: Int64, verb: QueueVerb, batch: Int64, job: String?) {
        self.id = id
        self.verb = verb
        self.batch = batch
        self.job = job
    }
}
