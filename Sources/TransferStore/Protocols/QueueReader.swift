import TransferCore
package import TransferJobs

/// Questions about a queue, asked beside the process that may be working on it.
package protocol QueueReader: Sendable {
    /// Reads the status of all batches, or of the named one.
    func statuses(name: String?) throws -> [BatchStatus]

    /// Reads jobs of a batch in the order of its job file, behind the job of that number.
    ///
    /// - Parameter failed: Whether only jobs that failed for good are read.
    func jobs(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob]

    /// Reads a page of jobs of all batches.
    func jobs(_ selection: JobSelection) throws -> [JobEntry]

    /// Counts the jobs that match the selection, of all batches.
    func count(_ selection: JobSelection) throws -> Int

    /// Returns the least and the greatest number that a job has; `nil` where there is none.
    func jobNumbers() throws -> ClosedRange<Int64>?

    /// Returns whether another live process, or another queue of this process, holds the batch.
    func isHeldElsewhere(batch name: String) throws -> Bool

    /// Reads the facts of a job.
    ///
    /// - Returns: `nil` when there is no such job.
    func facts(batch name: String, job: String) throws -> JobFacts?

    /// Finds identities of jobs that a misspelt one may mean: those that contain it, and those of about its length.
    func identities(batch name: String, like job: String, limit: Int) throws -> [String]

    func completedIdentities(batch name: String) throws -> Set<String>

    /// Reads completed downloads, in the order of their numbers, a page at a time.
    func downloads(_ selection: DownloadSelection, after id: Int64, limit: Int) throws -> [StoredDownload]

    /// Reads which file sets a job's network rules, and the places of the rules in it.
    ///
    /// - Returns: `nil` when there is no such job.
    func networkOrigin(batch: String, job: String) throws -> NetworkOrigin?

    /// Returns whether servers hold parts of a batch's cancelled uploads, to the extent that this is known.
    func hasAbandonedUploads(batch name: String) throws -> Bool

    /// Reads the hooks of a batch and of its jobs of which an attempt failed, the oldest first.
    func hookTroubles(batch name: String, limit: Int) throws -> [HookTrouble]

    /// Reads the workers of the queue, in the order in which they joined.
    func workers() throws -> [WorkerStatus]

    /// Reads the transfers under way of all workers as last reported, the largest first. A caller that asks repeatedly
    /// gets them within a few seconds; the first answer may be empty.
    func jobsUnderWay(limit: Int) throws -> [JobUnderWay]

    /// Notes that a process waits for the batch's end at this socket.
    func listen(batch: String, socket: String) throws
}

extension QueueReader {
    /// Returns none, because a queue of one machine has no named workers.
    package func workers() throws -> [WorkerStatus] { [] }

    /// Returns none, because the process that runs a queue of one machine reports its transfers by events.
    package func jobsUnderWay(limit: Int) throws -> [JobUnderWay] { [] }
}
