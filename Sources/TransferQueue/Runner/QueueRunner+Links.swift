import TransferCore
import TransferEngine
import TransferReachability

// What is told and kept of links: bytes that metered ones carried, silence, and what people read.
extension QueueRunner {
    // MARK: What it costs

    /// Counts bytes that went over a metered link.
    func account(_ job: RunningJob, moved: Int64) {
        let new = moved - job.way.accounted
        guard new > 0 else { return }
        job.way.accounted = moved
        guard job.candidate.reach != .local, let link = network.likelyLink(job.way.link),
            network.snapshot.metering(of: link.index).isMetered
        else { return }
        let kind = LinkClass(network.snapshot.kind(of: link.index))
        network.usage.add(new, over: kind, at: .now, network.zone)
        network.hasNewUsage = true
    }

    /// Looks after budgets while transfers run.
    func accountAll() {
        for job in running.values { account(job, moved: bytesMoved(job)) }
        guard network.hasNewUsage else { return }
        network.hasNewUsage = false
        let rows = network.usage.rows
        withStore {
            try $0.publish(.usage(rows))
        } then: { _, _ in
        }
        if running.values.contains(where: { !$0.candidate.lane.network.isEmpty }) { review() }
    }

    func publishHealth() {
        let silent = network.snapshot.links.compactMap { link in
            network.health.suspicion(of: link.name).map { (link.name, $0) }
        }
        withStore {
            try $0.publish(.silentLinks(silent))
        } then: { _, _ in
        }
    }
}
