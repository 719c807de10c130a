import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling

// News of waits for the network: events, and what other processes read in the store.
extension NetworkFollower {
    /// Tells each batch when its jobs begin to wait for the network, and when they go on.
    func announce(from old: NetworkGate, to new: NetworkGate, _ wall: WallTime, on host: isolated some NetworkHost) {
        let (was, isNow) = (old.held, new.held)
        for key in isNow.subtracting(was) {
            var pause = NetworkPause(since: wall)
            for job in host.jobs where job.candidate.lane.network == key && isStopped(job, on: host) {
                pause.transfers[job.record.batch, default: 0] += 1
            }
            network.waits[key] = pause
            tell(
                key, new.offline.contains(key) && !network.losses.isEmpty ? NetworkText.offline(network.losses) : nil,
                on: host)
        }
        for key in was.subtracting(isNow) {
            guard let pause = network.waits.removeValue(forKey: key) else { continue }
            tellContinued(pause.reported, pause, wall, on: host)
        }
        for (key, pause) in network.waits {
            let continued = pause.reported.intersection(host.batchesThatGoOn(under: key))
            guard !continued.isEmpty else { continue }
            network.waits[key]?.reported.subtract(continued)
            tellContinued(continued, pause, wall, on: host)
        }
        if was != isNow { publishWaits(on: host) }
    }

    private func tellContinued(
        _ batches: Set<Int64>, _ pause: NetworkPause, _ wall: WallTime, on host: isolated some NetworkHost
    ) {
        let after = Duration.milliseconds(max(0, wall.milliseconds - pause.since.milliseconds))
        let links = network.snapshot.waysOut.map(\.name)
        for batch in batches.sorted() {
            host.emit(batch, .batchContinues(links: links, after: after, transfers: pause.transfers[batch] ?? 0))
        }
    }

    /// Batches that come into a wait are told as well.
    func announceToNewBatches(on host: isolated some NetworkHost) {
        for key in network.waits.keys { tell(key, nil, on: host) }
    }

    private func tell(_ key: String, _ news: String?, on host: isolated some NetworkHost) {
        guard let reason = news ?? self.reason(key) else { return }
        for batch in batchesUnder(key, on: host) where network.waits[key]?.reported.insert(batch).inserted == true {
            let transfers = network.waits[key]?.transfers[batch] ?? 0
            host.emit(batch, .batchWaiting(wait(under: key, reason), transfers: transfers))
        }
    }

    private func isStopped(_ job: RunningJob, on host: isolated some NetworkHost) -> Bool {
        !job.handles.isEmpty && !host.isOpen(job.candidate.lane, job.candidate.reach)
    }

    private func batchesUnder(_ key: String, on host: isolated some NetworkHost) -> [Int64] {
        let lanes = host.batchesHeld(under: key)
        return host.openBatches.filter { id in
            lanes.contains(id)
                || host.jobs.contains { job in
                    job.record.batch == id && job.candidate.lane.network == key
                        && host.gate.isHeld(job.candidate.lane, job.candidate.reach)
                }
        }.sorted()
    }

    /// For `transfer why`: since when rules keep their jobs waiting.
    private func publishWaits(on host: isolated some NetworkHost) {
        let waits = network.waits.map { (network: $0, since: $1.since, reason: reason($0) ?? "offline") }
        host.publish(.networkWaits(waits))
    }

    /// A schedule is no fault of the network's, though it's one of its rules.
    func wait(under key: String, _ reason: String) -> WaitReason {
        if case .wait(.closed) = network.judgement(key, wall: .now).decision { return .schedule(reason) }
        return .network(reason)
    }

    /// The reason of most of the waiting jobs of a batch, if it's the network.
    func wait(of batch: Int64, on host: isolated some NetworkHost) -> WaitReason? {
        let lanes = host.closedLanes().filter { $0.batch == batch }
        guard let key = lanes.map(\.network).min(), let reason = self.reason(key) else { return nil }
        return wait(under: key, reason)
    }
}
