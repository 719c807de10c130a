import TransferCore
package import TransferJobs

/// Questions of other processes about a queue that one may be working on.
package protocol QueueReader: Sendable {
    /// How the batches stand; all of them, or the one of that name.
    func statuses(name: String?) throws -> [BatchStatus]

    /// Jobs of a batch in the order of its job file, behind the one of that number.
    ///
    /// - Parameter failed: Only those that failed for good.
    func jobs(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob]

    /// A page of jobs of all batches.
    func jobs(_ selection: JobSelection) throws -> [JobEntry]

    /// How many jobs are so, of all batches.
    func count(_ selection: JobSelection) throws -> Int

    /// The least and the greatest number that a job has; `nil` where there is none.
    func jobNumbers() throws -> ClosedRange<Int64>?

    /// Whether another process, or another queue of this one, has the batch and lives.
    func isHeldElsewhere(batch name: String) throws -> Bool

    /// - Returns: `nil` when there is no such job.
    func facts(batch name: String, job: String) throws -> JobFacts?

    /// Names of jobs that a misspelt one may mean: those that it's a part of, and those of about its length.
    func identities(batch name: String, like job: String, limit: Int) throws -> [String]

    func completedIdentities(batch name: String) throws -> Set<String>

    /// Completed downloads, by their numbers, a page at a time.
    func downloads(_ selection: DownloadSelection, after id: Int64, limit: Int) throws -> [StoredDownload]

    /// - Returns: `nil` when there is no such job.
    func networkOrigin(batch: String, job: String) throws -> NetworkOrigin?

    /// Whether servers hold parts of a batch's cancelled uploads, as far as is known.
    func hasAbandonedUploads(batch name: String) throws -> Bool

    /// Hooks of a batch, and of its jobs, of which an attempt came to nothing, the oldest first.
    func hookTroubles(batch name: String, limit: Int) throws -> [HookTrouble]

    /// The workers of the queue, in the order in which they came.
    func workers() throws -> [WorkerStatus]

    /// The transfers under way of all workers, the largest first, as they were told last. Whoever asks again and again is told
    /// within a few seconds; who asks once may be told of none.
    func jobsUnderWay(limit: Int) throws -> [JobUnderWay]

    /// Notes that somebody waits for the batch's end, at this socket.
    func listen(batch: String, socket: String) throws
}

extension QueueReader {
    /// A queue of one machine has none that are told by name.
    package func workers() throws -> [WorkerStatus] { [] }

    /// The process that runs a queue of one machine tells its events of its transfers.
    package func jobsUnderWay(limit: Int) throws -> [JobUnderWay] { [] }
}
