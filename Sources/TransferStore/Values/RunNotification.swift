import TransferCore
package import TransferJobs
package import TransferScheduling

/// News of a run for other processes that ask about it.
package enum RunNotification: Sendable {
    case progress(RunProgress)
    /// The origins that the transfers of this process wait for; replaces its last report of them.
    case hostWaits(Set<OriginWait>)
    /// The waits of this process for the network; replaces its last report of them.
    case networkWaits([(network: String, since: WallTime, reason: String)])
    /// Links over which no host answers.
    case silentLinks([(name: String, suspicion: LinkHealth.Suspicion)])
    /// The bytes that metered links have carried.
    case usage([MeteredUsage.Row])
    case pause(StoredPause)
    case noPauses
    /// The socket by which this process is notified of commands.
    case socket(String)
}
