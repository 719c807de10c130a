import TransferCore
package import TransferJobs

/// Batches: how jobs come into them, which process works on them, and how they end.
package protocol BatchStore: Sendable {
    /// Whether several processes work on one batch at the same time: its jobs are claimed, end and become ready without
    /// this one, and files of complete ones may be on other machines.
    var sharesBatches: Bool { get }

    /// Makes the batch or finds it, takes it for this process, and fills it through `body`; all or nothing.
    ///
    /// - Returns: What was taken; nothing where ``StagedJobs/underWay`` has jobs.
    /// - Throws: ``StagingFailure``; ``SubmissionKeyTaken``; what `body` throws.
    func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs

    /// Adds one job to a batch, which is made if need be. The same identity with the same content is taken once.
    ///
    /// - Throws: `TransferError` when the identity is taken by a job with other content; ``StagingFailure``.
    func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs

    /// Adds the jobs of several callers to a batch, as ``submit(_:batch:directory:)`` does with one, in one transaction.
    ///
    /// - Parameters:
    ///   - groups: The jobs of each caller; those of one are taken all or not at all. A group that was taken is remembered by
    ///     its key.
    ///   - startsPaused: New ones wait until somebody resumes them.
    /// - Returns: What became of each group, and what was taken.
    /// - Throws: ``SubmissionKeyTaken``; ``StagingFailure``.
    func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs)

    /// The answer to the submission of that key, for ``SubmissionKey/lifetime`` after it was taken.
    func answered(key name: String) throws -> AnsweredSubmission?

    /// Takes batches for this process, as far as no other one has them for itself.
    func hold(_ selection: BatchSelection) throws -> [HeldBatch]

    /// The run of this batch is over.
    ///
    /// - Parameters:
    ///   - isComplete: Every job has ended; else what this process has claimed of it is given back.
    ///   - end: What the batch's hook is told, where a job has ended since it was told last. What it's told is written in
    ///     the same transaction, durably.
    /// - Returns: The sockets of those who wait for that.
    func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String]

    /// How the jobs of the batch stand.
    func tally(batch: Int64) throws -> BatchTally

    func batchRegister() throws -> BatchRegister

    /// Forgets batches that nobody has: the named one, or those that ended before that (milliseconds since 1970).
    ///
    /// Without a time, what was uploaded from watched folders is forgotten with their batches.
    ///
    /// - Returns: The names of those forgotten.
    func forget(name: String?, endedBefore: Int64?) throws -> [String]
}

extension BatchStore {
    /// A batch is one process's at a time.
    package var sharesBatches: Bool { false }

    /// The run of this batch is over, and nobody is told.
    package func release(batch: Int64, isComplete: Bool) throws -> [String] {
        try release(batch: batch, isComplete: isComplete, end: nil)
    }
}
