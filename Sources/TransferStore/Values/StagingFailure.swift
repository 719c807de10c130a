package import TransferJobs

/// The reason why a batch was not taken.
package enum StagingFailure: Error, Sendable {
    /// The reader of the job file found faults of its own: nothing was taken.
    case refused
    case faults(JobFileReport)
    case held(BatchHeld)
}
