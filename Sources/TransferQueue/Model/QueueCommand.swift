/// What can be asked of jobs from another terminal.
public enum QueueVerb: String, Sendable, Hashable, CaseIterable {
    case pause, resume, cancel
    /// A fresh start for what failed, was skipped or cancelled, or waits for its next attempt.
    case retry
    /// The same for what failed or was skipped.
    case retryFailed
}

/// A command for one job, or for a whole batch.
struct QueueCommand: Sendable, Hashable {
    let id: Int64
    let verb: QueueVerb
    let batch: Int64
    /// An identity; `nil` means every job of the batch.
    let job: String?
}
