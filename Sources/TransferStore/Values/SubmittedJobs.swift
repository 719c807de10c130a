import TransferJobs

/// The outcome for jobs that were submitted together: all of them were taken, or none.
package enum SubmittedJobs: Sendable {
    /// - Parameters:
    ///   - numbers: The numbers of the jobs, in their order.
    ///   - added: The number of jobs that were not there before.
    case taken(numbers: [Int64], added: Int)
    /// A job with other content has the identity of one of the jobs.
    ///
    /// - Parameter index: The index of the first such job.
    case conflict(index: Int, identity: String)
}
