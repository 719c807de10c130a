import TransferJobs

/// The outcome for jobs that were submitted together: all of them were taken, or none.
package enum SubmittedJobs: Sendable {
    /// - Parameters:
    ///   - numbers: The jobs' own, in their order.
    ///   - added: How many of them weren't there before.
    case taken(numbers: [Int64], added: Int)
    /// A job of another content has the identity of one of them.
    ///
    /// - Parameter index: Of the first such job.
    case conflict(index: Int, identity: String)
}
