import TransferCore
package import TransferJobs

/// What other processes ask of a queue that one may be working on.
package protocol QueueReader: Sendable {
    /// How the batches stand; all of them, or the one of that name.
    func statuses(name: String?) throws -> [BatchStatus]

    /// - Returns: `nil` when there is no such job.
    func facts(batch name: String, job: String) throws -> JobFacts?

    /// Names of jobs that a misspelt one may mean: those that it's a part of, and those of about its length.
    func identities(batch name: String, like job: String, limit: Int) throws -> [String]

    func completedIdentities(batch name: String) throws -> Set<String>

    /// - Returns: `nil` when there is no such job.
    func networkOrigin(batch: String, job: String) throws -> NetworkOrigin?

    /// Whether servers hold parts of a batch's cancelled uploads, as far as is known.
    func hasAbandonedUploads(batch name: String) throws -> Bool

    /// Hooks of a batch, and of its jobs, of which an attempt came to nothing, the oldest first.
    func hookTroubles(batch name: String, limit: Int) throws -> [HookTrouble]

    /// Notes that somebody waits for the batch's end, at this socket.
    func listen(batch: String, socket: String) throws
}
