import TransferCore
package import TransferJobs

/// A wait of all jobs under the same rules of the network.
package struct NetworkPause {
    package var since: WallTime
    /// The transfers that it stopped, by batch.
    package var transfers: [Int64: Int] = [:]
    /// The batches that were told of it.
    package var reported: Set<Int64> = []

    package init(since: WallTime, transfers: [Int64: Int] = [:], reported: Set<Int64> = []) {
        self.since = since
        self.transfers = transfers
        self.reported = reported
    }
}
