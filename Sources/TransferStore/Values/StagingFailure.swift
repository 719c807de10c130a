package import TransferJobs

/// Why a batch wasn't taken.
package enum StagingFailure: Error, Sendable {
    /// The reader of the job file found faults of its own: nothing was taken.
    case refused
    case faults(JobFileReport)
    case held(BatchHeld)
}
