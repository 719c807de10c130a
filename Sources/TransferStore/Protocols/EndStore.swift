import TransferCore
package import TransferJobs

/// The ends of jobs, in their order.
package protocol EndStore: Sendable {
    /// Ends of jobs after the cursor, in order.
    func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent]

    /// How one job ended, or `nil` while it goes on or when there is no such job.
    func end(batch: String, job: String) throws -> QueueEvent?

    func lastCursor() throws -> Int64

    /// The failed jobs of a batch, in the order they failed.
    func failures(batch name: String, limit: Int) throws -> [FailedJob]
}
