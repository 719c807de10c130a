import TransferCore
package import TransferJobs

/// The queue's memory: what a run asks of it, in the queue's own words and in batches.
///
/// All functions block and are called by one worker at a time. Each is one transaction: what it did is there, or nothing
/// is. What a process has claimed it holds by its ``Lease``: as soon as another one may have taken it over, every function
/// that changes jobs throws ``LeaseLost`` and changes nothing, so that no job is recorded by two. No function needs what
/// only the process knows that asks, so that a store may be a server.
package protocol JobStore: Sendable {
    /// The repairs that opening the store took, in words for people; `nil` when all was well.
    var notice: String? { get }

    /// Whether several processes work on one batch at the same time: its jobs are claimed, end and become ready without
    /// this one, and files of complete ones may be on other machines.
    var sharesBatches: Bool { get }

    /// The bounds of origins where other processes keep them too; `nil` where each process keeps its own.
    var sharedRules: (any SharedRules)? { get }

    /// A fault in words that say what is wrong and what to do, where the store can say that of an error that it threw;
    /// else the error itself.
    func fault(_ error: any Error) -> any Error

    // MARK: Leases

    /// Extends the lease of this process by ``Lease/term``. To be called at least three times in a term.
    ///
    /// - Throws: ``LeaseLost``.
    @discardableResult
    func renew() throws -> Lease

    /// Gives back whatever this process still holds; for its end.
    func retire() throws

    /// Keeps the lease from now on, and tells what others do, until ``retire()``. A store of one process's own tells nothing.
    ///
    /// - Parameter hear: Called by any thread.
    func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void)

    /// Ends what a store waits for that is away; what is asked of it from now on fails then. For any thread.
    func cancelWaits()

    // MARK: Batches

    /// Makes the batch or finds it, takes it for this process, and fills it through `body`; all or nothing.
    ///
    /// - Returns: What was taken; nothing where ``StagedJobs/underWay`` has jobs.
    /// - Throws: ``StagingFailure``; ``SubmissionKeyTaken``; what `body` throws.
    func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs

    /// Asks other processes to release jobs that they have claimed: the jobs wait then, for long enough to be staged anew.
    ///
    /// - Returns: The count of those that others still have claimed: to be asked again until there are none.
    func revoke(_ ids: Set<Int64>) throws -> Int

    /// The jobs that this process has claimed and others want released.
    func revoked() throws -> Set<Int64>

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

    /// The jobs of the batch that are ready, by lane, and those that wait for their next attempt.
    func backlog(batch: Int64) throws -> Backlog

    func batchRegister() throws -> BatchRegister

    /// Forgets batches that nobody has: the named one, or those that ended before that (milliseconds since 1970).
    ///
    /// Without a time, what was uploaded from watched folders is forgotten with their batches.
    ///
    /// - Returns: The names of those forgotten.
    func forget(name: String?, endedBefore: Int64?) throws -> [String]

    // MARK: Jobs

    /// Takes ready jobs of lanes for this process, the most urgent of each first. Uploads are known to be claimed after a
    /// loss of power too.
    ///
    /// - Parameter secrets: By job; those whose secrets nobody has any more can't be read.
    /// - Returns: For each want, in their order.
    func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs]

    /// Gives claimed jobs back unstarted.
    func release(_ ids: [Int64]) throws

    /// Makes waiting jobs ready; those that were paused or cancelled meanwhile stay as they are.
    ///
    /// - Returns: How many are ready, by lane.
    func wake(_ ids: [Int64]) throws -> [Lane: Int]

    /// Records ends and steps of claimed jobs, durably, with what hooks are to be told of the ends.
    func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup

    /// Writes down what the next attempt of claimed jobs has to know.
    func note(_ notes: [JobNote]) throws

    /// Jobs that were complete before, by their numbers, a page at a time. Not those of watched folders.
    func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob]

    /// Makes complete jobs ready again.
    func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws

    /// The cancelled jobs of a batch whose servers haven't been told.
    ///
    /// - Parameter secrets: Jobs whose secrets nobody has any more are left out.
    func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload]

    /// Takes cancelled jobs of all batches whose servers haven't been told for this process, for a while: it tells them.
    ///
    /// - Returns: None where each batch is one process's, which knows its own (``abandonedUploads(batch:secrets:)``).
    func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload]

    /// The cancelled jobs of a batch whose servers hold parts of them, as far as is known.
    func heldUploads(batch: Int64) throws -> [HeldUpload]

    // MARK: Hooks

    /// Takes messages of a batch for this process, in the order of the ends that they tell of; those that another process
    /// has taken are left out until its lease is over.
    ///
    /// - Parameter revivesFailed: Those of which no attempt was to follow get a fresh count, and are taken too.
    func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall]

    /// Writes down what became of messages that this process has taken. Those that were told are forgotten.
    func settleHookCalls(_ outcomes: [HookOutcome]) throws

    // MARK: Steering

    /// Asks something of jobs: at once where no process has their batch, else of that one.
    func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery

    /// Changes jobs that wait and that no process has, where the change makes no other jobs of them.
    ///
    /// - Parameter isOwn: Whether those are meant that this process has claimed.
    /// - Returns: The numbers of those that were changed.
    func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64>

    /// The commands for this process, in their order, each once.
    func takeCommands() throws -> [QueueCommand]

    /// Changes the jobs that no process has claimed.
    func apply(_ command: QueueCommand) throws -> AppliedCommand

    // MARK: Ends

    /// Ends of jobs after the cursor, in order.
    func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent]

    /// How one job ended, or `nil` while it goes on or when there is no such job.
    func end(batch: String, job: String) throws -> QueueEvent?

    func lastCursor() throws -> Int64

    /// The failed jobs of a batch, in the order they failed.
    func failures(batch name: String, limit: Int) throws -> [FailedJob]
}

extension JobStore {
    package var sharedRules: (any SharedRules)? { nil }

    /// A batch is one process's at a time.
    package var sharesBatches: Bool { false }

    package func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload] { [] }

    /// No other process has jobs of a batch that this one holds.
    package func revoke(_ ids: Set<Int64>) throws -> Int { 0 }

    package func revoked() throws -> Set<Int64> { [] }

    /// A store that no other process works on has no news.
    package func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void) {}

    /// A store on this machine is never away.
    package func cancelWaits() {}

    /// The run of this batch is over, and nobody is told.
    package func release(batch: Int64, isComplete: Bool) throws -> [String] {
        try release(batch: batch, isComplete: isComplete, end: nil)
    }

    /// A lane alone.
    package func claim(_ lane: Lane, limit: Int, secrets: [Int64: JobSecrets]) throws -> ClaimedJobs {
        try claim([LaneWant(lane: lane, limit: limit)], secrets: secrets).first
            ?? ClaimedJobs(lane: lane, jobs: [], unreadable: [])
    }
}
