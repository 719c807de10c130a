import TransferCore
import TransferEngine
import TransferReachability

// What is told of waits for the network: events, and what other processes read in the store.
extension QueueRunner {
    /// Tells each batch when its jobs begin to wait for the network, and when they go on.
    func announceNetwork(from old: NetworkGate, to new: NetworkGate, _ wall: WallTime) {
        let (was, isNow) = (old.held, new.held)
        for key in isNow.subtracting(was) {
            var pause = NetworkPause(since: wall)
            for job in running.values where job.candidate.lane.network == key && isStopped(job) {
                pause.transfers[job.record.batch, default: 0] += 1
            }
            network.waits[key] = pause
            tell(key, new.offline.contains(key) && !network.losses.isEmpty ? NetworkWords.offline(network.losses) : nil)
        }
        for key in was.subtracting(isNow) {
            guard let pause = network.waits.removeValue(forKey: key) else { continue }
            tellContinued(pause.told, pause, wall)
        }
        for (key, pause) in network.waits {
            let continued = pause.told.intersection(scheduler.batchesThatGoOn(under: key))
            guard !continued.isEmpty else { continue }
            network.waits[key]?.told.subtract(continued)
            tellContinued(continued, pause, wall)
        }
        if was != isNow { publishWaits() }
    }

    private func tellContinued(_ batches: Set<Int64>, _ pause: NetworkPause, _ wall: WallTime) {
        let after = Duration.milliseconds(max(0, wall.milliseconds - pause.since.milliseconds))
        let links = network.snapshot.waysOut.map(\.name)
        for batch in batches.sorted() {
            emit(batch, .batchContinues(links: links, after: after, transfers: pause.transfers[batch] ?? 0))
        }
    }

    /// Batches that come into a wait are told as well.
    func announceToNewBatches() { for key in network.waits.keys { tell(key, nil) } }

    private func tell(_ key: String, _ news: String?) {
        guard let reason = news ?? networkReason(key) else { return }
        for batch in batchesUnder(key) where network.waits[key]?.told.insert(batch).inserted == true {
            let transfers = network.waits[key]?.transfers[batch] ?? 0
            emit(batch, .batchWaiting(wait(under: key, reason), transfers: transfers))
        }
    }

    private func isStopped(_ job: RunningJob) -> Bool {
        !job.handles.isEmpty && !scheduler.network.isOpen(job.candidate.lane, job.candidate.reach)
    }

    private func batchesUnder(_ key: String) -> [Int64] {
        let lanes = scheduler.batchesHeld(under: key)
        return batches.keys.filter { id in
            !(batches[id]?.isFinished ?? true)
                && (lanes.contains(id)
                    || running.values.contains { job in
                        job.record.batch == id && job.candidate.lane.network == key
                            && scheduler.network.isHeld(job.candidate.lane, job.candidate.reach)
                    })
        }.sorted()
    }

    /// For `transfer why`: since when rules keep their jobs waiting.
    private func publishWaits() {
        let waits = network.waits.map { (network: $0, since: $1.since, reason: networkReason($0) ?? "offline") }
        withStore {
            try $0.publish(.networkWaits(waits))
        } then: { _, _ in
        }
    }

    /// A schedule is no fault of the network's, though it's one of its rules.
    func wait(under key: String, _ reason: String) -> WaitReason {
        if case .wait(.closed) = network.judgement(key, wall: .now).decision { return .schedule(reason) }
        return .network(reason)
    }

    /// What most of what waits in a batch is waiting for, if it's the network.
    func networkWait(of batch: Int64) -> WaitReason? {
        let lanes = scheduler.closedLanes().filter { $0.batch == batch }
        guard let key = lanes.map(\.network).min(), let reason = networkReason(key) else { return nil }
        return wait(under: key, reason)
    }
}
