import TransferCore
package import TransferScheduling

/// The memory of runs: news for processes that ask about a run, and facts that the next run needs. No entry is worth a
/// wait for the disk.
package protocol RunMemory: Sendable {
    func publish(_ news: RunNotification) throws

    /// Reads the pauses that origins asked for and that are not over.
    func pauses() throws -> [StoredPause]

    /// Counts jobs for tools that measure the queue.
    ///
    /// - Parameters:
    ///   - batches: The batches whose oldest unfinished job is searched for.
    ///   - first: The number of a job before which no job of these batches is open; 0 where none is known.
    func census(of batches: [Int64], from first: Int64) throws -> StoreCounts

    /// Reads the number of bytes that metered links have carried.
    func meteredUsage() throws -> [MeteredUsage.Row]
}
