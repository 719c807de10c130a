import TransferCore

/// What a run tells whoever asks beside it.
enum RunNews: Sendable {
    case progress(RunProgress)
    /// Replaces what this process said of the origins that its transfers wait for.
    case hostWaits(Set<OriginWait>)
    /// Replaces what this process said of its waits for the network.
    case networkWaits([(network: String, since: WallTime, reason: String)])
    /// Links that nobody answers over.
    case silentLinks([(name: String, suspicion: LinkHealth.Suspicion)])
    /// What metered links have carried.
    case usage([MeteredUsage.Row])
    case pause(StoredPause)
    case noPauses
    /// Where this process is told that it has commands.
    case socket(String)
}

/// The numbers of a running batch.
struct RunProgress: Sendable {
    let batch: Int64
    let totals: BatchTotals
    /// Bytes a second.
    let rate: Int64
    /// Seconds; `nil` where that can't be told.
    let eta: Int64?
    /// Transfers under way.
    let active: Int
    /// Their jobs, or some of them.
    let underWay: [Int64]
    /// Why the network keeps everything that is left from going on.
    let waitingFor: String?
}
