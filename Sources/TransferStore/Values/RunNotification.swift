import TransferCore
package import TransferJobs
package import TransferScheduling

/// News of a run for processes that ask beside it.
package enum RunNotification: Sendable {
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
