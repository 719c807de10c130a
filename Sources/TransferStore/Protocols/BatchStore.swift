import TransferCore
package import TransferJobs

/// Batches: how jobs come into them, which process works on them, and how they end.
package protocol BatchStore: Sendable {
    /// Whether several processes work on one batch at the same time. Its jobs are then claimed, end and become ready
    /// without this process, and files of complete jobs may be on other machines.
    var sharesBatches: Bool { get }

    /// Finds or creates the batch, takes it for this process, and fills it through `body`, all or nothing.
    ///
    /// - Returns: The jobs that were taken; none where ``StagedJobs/underWay`` has jobs.
    /// - Throws: ``StagingFailure``; ``SubmissionKeyTaken``; errors of `body`.
    func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs

    /// Adds one job to a batch, which is made if needed. A job that is there already with the same content is not added
    /// again.
    ///
    /// - Throws: `TransferError` when the identity is taken by a job with other content; ``StagingFailure``.
    func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs

    /// Adds the jobs of several callers to a batch, as ``submit(_:batch:directory:)`` does with one, in one
    /// transaction.
    ///
    /// - Parameters:
    ///   - groups: The jobs of each caller, of which all or none are taken. A group that was taken is remembered by its
    ///     key.
    ///   - startsPaused: Whether new jobs wait until a user resumes them.
    /// - Returns: The result of each group, and the jobs that were taken.
    /// - Throws: ``SubmissionKeyTaken``; ``StagingFailure``.
    func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs)

    /// Returns the answer to the submission with that key, for ``SubmissionKey/lifetime`` after it was taken.
    func answered(key name: String) throws -> AnsweredSubmission?

    /// Takes batches for this process, except those that another process holds for itself.
    func hold(_ selection: BatchSelection) throws -> [HeldBatch]

    /// Ends this process's run of the batch.
    ///
    /// - Parameters:
    ///   - isComplete: Whether every job has ended; otherwise the jobs that this process has claimed are given back.
    ///   - end: The end that is reported to the batch's hook, where a job has ended since the last report. The message
    ///     is written in the same transaction, durably.
    /// - Returns: The sockets of the processes that wait for that.
    func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String]

    /// Counts the jobs of the batch by state.
    func tally(batch: Int64) throws -> BatchTally

    func batchRegister() throws -> BatchRegister

    /// Forgets batches that no process holds: the named one, or those that ended before that time (milliseconds since
    /// 1970).
    ///
    /// Without a time, the history of uploads from watched folders is forgotten with their batches.
    ///
    /// - Returns: The names of the forgotten batches.
    func forget(name: String?, endedBefore: Int64?) throws -> [String]
}

extension BatchStore {
    /// A batch belongs to one process at a time.
    package var sharesBatches: Bool { false }

    /// Ends this process's run of the batch without a report to its hook.
    package func release(batch: Int64, isComplete: Bool) throws -> [String] {
        try release(batch: batch, isComplete: isComplete, end: nil)
    }
}
