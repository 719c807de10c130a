import TransferCore
package import TransferScheduling

/// What a run tells whoever asks beside it, and what it has to know of those before it. Nothing of it is worth a wait for
/// the disk.
package protocol RunMemory: Sendable {
    func publish(_ news: RunNews) throws

    /// Origins that asked to be left alone, as far as that isn't over.
    func pauses() throws -> [StoredPause]

    /// What metered links have carried.
    func meteredUsage() throws -> [MeteredUsage.Row]
}
