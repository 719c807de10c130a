import TransferCore
import TransferEngine
import TransferReachability

// What is told and kept of links: bytes that metered ones carried, silence, and what people read.
extension QueueRunner {
    // MARK: What it costs

    /// Counts bytes that went over a metered link.
    func account(_ job: RunningJob, moved: Int64) {
        let new = moved - job.accounted
        guard new > 0 else { return }
        running[job.candidate.id]?.accounted = moved
        guard OriginReach(origin: job.candidate.lane.origin) != .local, let link = network.likelyLink(job.link),
            network.snapshot.metering(of: link.index).isMetered
        else { return }
        let kind = LinkClass(network.snapshot.kind(of: link.index))
        network.usage.add(new, over: kind, at: .now, network.zone)
        hasNewUsage = true
    }

    /// Looks after budgets while transfers run.
    func accountAll() {
        for job in running.values { account(job, moved: bytesMoved(job)) }
        guard hasNewUsage else { return }
        hasNewUsage = false
        let rows = network.usage.rows
        withStore {
            try $0.save(rows)
        } then: { _, _ in
        }
        if running.values.contains(where: { !$0.candidate.lane.network.isEmpty }) { review() }
    }

    func publishHealth() {
        let silent = network.snapshot.links.compactMap { link in
            network.health.suspicion(of: link.name).map { (link.name, $0) }
        }
        withStore {
            try $0.save(silentLinks: silent)
        } then: { _, _ in
        }
    }

    // MARK: Words

    /// Tells each batch when its jobs begin to wait for the network, and when they go on.
    func announceNetwork(from old: NetworkGate, to new: NetworkGate, _ wall: WallTime) {
        let (was, isNow) = (old.closed.union(old.offline), new.closed.union(new.offline))
        for key in isNow.subtracting(was) {
            networkWaits[key] = wall
            guard let reason = networkReason(key) else { continue }
            for batch in batchesUnder(key) { emit(batch, .batchWaiting(.network(reason))) }
        }
        for key in was.subtracting(isNow) {
            let began = networkWaits.removeValue(forKey: key)
            let after = began.map { Duration.milliseconds(max(0, wall.milliseconds - $0.milliseconds)) } ?? .zero
            let links = network.snapshot.waysOut.map(\.name)
            for batch in batchesUnder(key) { emit(batch, .batchContinues(links: links, after: after)) }
        }
    }

    private func batchesUnder(_ key: String) -> [Int64] {
        let lanes = scheduler.batches(under: key)
        return batches.keys.filter { id in
            !(batches[id]?.isFinished ?? true)
                && (lanes.contains(id)
                    || running.values.contains { $0.record.batch == id && $0.candidate.lane.network == key })
        }.sorted()
    }

    /// What most of what waits is waiting for, if it's the network.
    func networkWait() -> WaitReason? {
        guard let lane = scheduler.closedLanes().first, let reason = networkReason(lane.network) else { return nil }
        return .network(reason)
    }
}
