import TransferCore
package import TransferJobs
package import TransferScheduling

/// News of a run for processes that ask beside it.
package enum RunNews: Sendable {
    case progress(RunProgress)
    /// Replaces what this process said of the origins that its transfers wait for.
    case hostWaits(Set<OriginWait>)
    /// Replaces what this process said of its waits for the network.
    case networkWaits([(network: String, since: WallTime, reason: String)])
    /// Links that nobody answers over.
    case silentLinks([(name: String, suspicion: LinkHealth.Suspicion)])
    /// The bytes that metered links have carried.
    case usage([MeteredUsage.Row])
    case pause(StoredPause)
    case noPauses
    /// The socket by which this process is told that it has commands.
    case socket(String)
}

/// The numbers of a running batch.
package struct RunProgress: Sendable {
    package let batch: Int64
    package let totals: BatchTotals
    /// Bytes a second.
    package let rate: Int64
    /// Seconds; `nil` where that can't be told.
    package let eta: Int64?
    /// Transfers under way.
    package let active: Int
    /// The IDs of jobs under way, or of some of them.
    package let underWay: [Int64]
    /// The work of their sources, by the IDs of those that have several connections or URLs.
    package let sources: [Int64: [JobSource]]
    /// Why the network keeps everything that is left from going on.
    package let waitingFor: String?

    package init(
        batch: Int64, totals: BatchTotals, rate: Int64, eta: Int64?, active: Int, underWay: [Int64],
        sources: [Int64: [JobSource]] = [:], waitingFor: String?
    ) {
        self.sources = sources
        self.batch = batch
        self.totals = totals
        self.rate = rate
        self.eta = eta
        self.active = active
        self.underWay = underWay
        self.waitingFor = waitingFor
    }
}
