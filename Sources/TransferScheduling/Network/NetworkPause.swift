import TransferCore

/// A wait of all jobs under the same rules of the network.
struct NetworkPause {
    var since: WallTime
    /// The transfers that it stopped, by batch.
    var transfers: [Int64: Int] = [:]
    /// The batches that were told of it.
    var told: Set<Int64> = []
}
