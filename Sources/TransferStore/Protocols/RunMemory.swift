import TransferCore
package import TransferScheduling

/// The memory of runs: news for processes that ask beside one, and facts that the next run needs. No entry is worth a
/// wait for the disk.
package protocol RunMemory: Sendable {
    func publish(_ news: RunNotification) throws

    /// Origins that asked to be left alone, as far as that isn't over.
    func pauses() throws -> [StoredPause]

    /// Counts for those who measure the queue.
    ///
    /// - Parameters:
    ///   - batches: Of these the oldest job that hasn't ended is looked for.
    ///   - first: The number of a job before which none of them is open, as far as it's known; 0 for nothing.
    func census(of batches: [Int64], from first: Int64) throws -> StoreCounts

    /// The bytes that metered links have carried.
    func meteredUsage() throws -> [MeteredUsage.Row]
}
