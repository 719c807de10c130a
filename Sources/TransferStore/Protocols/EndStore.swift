import TransferCore
package import TransferJobs

/// The ends of jobs, in their order.
package protocol EndStore: Sendable {
    /// Returns the ends of jobs behind the cursor, in order.
    func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent]

    /// Returns the end of one job, or `nil` while it has not ended or when there is no such job.
    func end(batch: String, job: String) throws -> QueueEvent?

    func lastCursor() throws -> Int64

    /// Returns the failed jobs of a batch, in the order in which they failed.
    func failures(batch name: String, limit: Int) throws -> [FailedJob]
}
