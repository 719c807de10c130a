import TransferCore
import TransferEngine
import TransferEventLoop
import TransferReachability

// How the queue follows the network: what the kernel says goes into `network`, and what comes out of it opens and
// closes lanes of the scheduler and ends transfers whose way is gone. Nothing of this spends attempts.
extension QueueRunner {
    /// Begins to listen, with what the kernel says now.
    func startNetwork() {
        guard state.observation == nil else { return }
        follow(monitor.current)
        state.observation = monitor.observe { [weak self] snapshot in
            guard let self else { return }
            loop.execute { self.onLoop { $0.networkChanged(snapshot) } }
        }
        withStore {
            try $0.meteredUsage()
        } then: { runner, rows in
            runner.network.usage = MeteredUsage(rows)
            // A budget that is spent is known only now.
            runner.review()
        }
    }

    func stopNetwork() {
        state.observation?.cancel()
        state.observation = nil
        timer(.network).cancel()
        timer(.stalls).cancel()
    }

    private func networkChanged(_ snapshot: NetworkSnapshot) {
        follow(snapshot)
        pump()
    }

    func follow(_ snapshot: NetworkSnapshot) {
        let now = MonotonicTime.now
        // The kernel is asked at each failure, too; what was found out holds until it says something else.
        let isNews = snapshot != network.snapshot
        let change = network.update(snapshot, now: now, wall: .now)
        if change.isOtherWay { engine.renewNetwork() }
        stopLost(change)
        if change.isOtherWay { watchStalls(now) }
        if isNews {
            network.unreachable.forget()
            network.ways.forget()
        }
        review()
    }

    // MARK: What is under way

    /// Ends the transfers whose way is gone; they go on over what is left, or when there is something.
    private func stopLost(_ change: QueueNetwork.Change) {
        guard change.isOtherWay || !change.lost.isEmpty || !change.silent.isEmpty else { return }
        let error = TransferError(.networkChanged, "the network changed", isTransient: true)
        for job in running.values {
            guard job.stop == nil else { continue }
            // What can't go on from where it was keeps its connection as long as that may come back.
            let restarts = job.canGoOn
            job.way.mark = nil
            for handle in job.handles {
                handle.interrupt(error) { facts in
                    if facts.remoteAddress?.isLoopback == true { return false }
                    guard let local = facts.localAddress else { return change.isOtherWay }
                    return change.lost.contains(local) || (restarts && change.silent.contains(local))
                }
            }
        }
    }

    /// Ends what runs over a link that its rules forbid now: another schedule, a budget that is spent, another route.
    private func enforce() {
        let wall = WallTime.now
        var allowed: [String: Set<IPAddress>?] = [:]
        let error = TransferError(.networkChanged, "the rules of its network don't allow it now", isTransient: true)
        for job in running.values where !job.candidate.lane.network.isEmpty {
            guard job.stop == nil else { continue }
            let key = job.candidate.lane.network
            let addresses = allowed[key] ?? network.allowedAddresses(key, wall: wall)
            allowed[key] = .some(addresses)
            guard let addresses else { continue }
            let isShut = scheduler.network.shut.contains(key)
            for handle in job.handles {
                handle.interrupt(error) { facts in
                    if facts.remoteAddress?.isLoopback == true { return isShut }
                    guard let local = facts.localAddress else { return addresses.isEmpty }
                    return !addresses.contains(local)
                }
            }
        }
    }

    /// After a change of routes a connection may hang, though its address is still there: what doesn't move within a
    /// second begins anew. Looks for ten seconds.
    private func watchStalls(_ now: MonotonicTime) {
        network.stallsUntil = now + .seconds(10)
        let timer = timer(.stalls)
        if !timer.isScheduled { timer.schedule(at: now + .seconds(1)) }
    }

    func lookForStalls() {
        let now = MonotonicTime.now
        let error = TransferError(.networkChanged, "nothing came after the network changed", isTransient: true)
        for job in running.values where job.way.generation < network.generation {
            guard job.stop == nil, !job.handles.isEmpty else { continue }
            let position = job.meter.position + job.sent
            if let mark = job.way.mark, mark == position, job.canGoOn {
                for handle in job.handles { handle.interrupt(error) { $0.remoteAddress?.isLoopback != true } }
            }
            job.way.mark = position
        }
        guard let end = network.stallsUntil, now < end, !running.isEmpty else { return }
        timer(.stalls).schedule(at: now + .seconds(1))
    }

    // MARK: What may start

    /// Opens and closes lanes by what the rules make of the network now.
    func review() {
        let (now, wall) = (MonotonicTime.now, WallTime.now)
        let before = scheduler.closedLanes()
        // Also of what was given back, and comes again.
        let keys = scheduler.networks.union(running.values.map(\.candidate.lane.network))
            .union(recorder.steps.map(\.network)).union(admission.sleepers.map(\.lane.network)).union([""])
        var verdict = network.verdict(keys, now: now, wall: wall)
        verdict.gate.unreachable = network.unreachable.lanes(now: now)
        findWays(verdict.looksNearby, into: &verdict.gate, now, wall)
        let (old, gate) = (scheduler.network, verdict.gate)
        scheduler.setNetwork(gate)
        turnToMirrors()
        if gate != old { announceNetwork(from: old, to: gate, wall) }
        announceToNewBatches()
        enforce()
        if !Set(before).subtracting(scheduler.closedLanes()).isEmpty { wakeEarly() }
        scheduleReview(verdict, now, wall)
    }

    /// There is a way again: what waits for its next attempt needn't, whatever its backoff said. A server's own wish
    /// holds over every network.
    func wakeEarly() {
        scheduler.openSilentGates()
        let early = admission.wakeUnasked()
        guard !early.isEmpty else { return }
        withStore {
            try $0.wake(early)
        } then: { runner, lanes in
            for (lane, count) in lanes { runner.becameReady(lane, count) }
        }
    }

    /// Whether a link is there that somebody may be on.
    private var hasNeighbours: Bool {
        !network.snapshot.isKnown || network.snapshot.links.contains { $0.kind != .loopback && $0.isRunning }
    }

    private func scheduleReview(_ verdict: QueueNetwork.Verdict, _ now: MonotonicTime, _ wall: WallTime) {
        var next = verdict.probe
        for look in [
            network.unreachable.nextLook(now: now),
            verdict.looksNearby.isEmpty || !hasNeighbours ? nil : network.ways.nextLook,
        ] {
            if let look { next = min(next ?? look, look) }
        }
        if let time = verdict.lookAgain {
            // A little late rather than a little early, when nothing would have changed.
            let left = Duration.milliseconds(max(0, time.milliseconds - wall.milliseconds) + 20)
            next = min(next ?? now + left, now + min(left, .seconds(60)))
        }
        guard let next, !batches.isEmpty else {
            return timer(.network).cancel()
        }
        timer(.network).schedule(at: max(next, now + .milliseconds(5)))
    }
}

extension WallTime {
    static var now: WallTime { WallTime(milliseconds: WallClock.milliseconds) }
}
