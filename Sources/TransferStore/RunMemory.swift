import TransferCore
package import TransferScheduling

/// The memory of runs: news for processes that ask beside one, and facts that the next run needs. No entry is worth a
/// wait for the disk.
package protocol RunMemory: Sendable {
    func publish(_ news: RunNews) throws

    /// Origins that asked to be left alone, as far as that isn't over.
    func pauses() throws -> [StoredPause]

    /// The bytes that metered links have carried.
    func meteredUsage() throws -> [MeteredUsage.Row]
}
