import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling

/// The runner, as far as following the network needs it.
protocol NetworkHost: PartHost {
    var following: NetworkFollower { get }
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    /// Batches that haven't ended.
    var openBatches: [Int64] { get }
    /// Whether there is no batch, ended or not.
    var hasNoBatches: Bool { get }
    /// Rules (``/TransferJobs/Lane/network``) of jobs that may start, also of those that were given back and come again.
    var networksInUse: Set<String> { get }
    /// The job's transfer has moved as many bytes more.
    func noteMoved(_ job: RunningJob, _ bytes: Int64)
    /// The scheduler's gate: it says which lanes the network lets start.
    var gate: NetworkGate { get }
    func setGate(_ gate: NetworkGate)
    func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool
    func isDirect(_ host: HostUnderRules) -> Bool
    func closedLanes() -> [Lane]
    /// Batches with jobs that wait under these rules, and those with others that go on.
    func batchesHeld(under network: String) -> Set<Int64>
    func batchesThatGoOn(under network: String) -> Set<Int64>
    /// The machines that jobs under these rules would go to, by this gate.
    func machines(under networks: Set<String>, _ gate: NetworkGate) -> Set<HostUnderRules>
    /// Jobs whose server can't be reached go to a mirror that can.
    func turnToMirrors()
    /// Jobs that wait for their next attempt needn't any more, whatever their backoff said.
    func wakeEarly()
    func host(of job: RunningJob) -> String?
    func leave(_ job: RunningJob, _ outcome: JobOutcome)
}

/// The queue's view of the network: the kernel's news goes into ``/TransferScheduling/QueueNetwork``, and what comes out of it opens and
/// closes lanes of the scheduler and ends transfers whose way is gone. Nothing of this spends attempts.
final class NetworkFollower {
    var network = QueueNetwork()
    let monitor: NetworkMonitor
    let engine: ExchangeEngine
    private var observation: NetworkObservation?
    /// Whether the network is judged anew at the end of this turn of the loop.
    var isReviewDue = false

    init(monitor: NetworkMonitor, engine: ExchangeEngine) {
        self.monitor = monitor
        self.engine = engine
    }

    /// Begins to listen, with what the kernel says now.
    func start(on host: isolated some NetworkHost) {
        guard observation == nil else { return }
        follow(monitor.current, on: host)
        observation = monitor.observe { [weak host] snapshot in
            guard let host else { return }
            host.loop.execute { host.onLoop { $0.following.networkChanged(snapshot, on: $0) } }
        }
        host.withStore {
            try $0.meteredUsage()
        } then: { host, rows in
            host.following.network.usage = MeteredUsage(rows)
            // A budget that is spent is known only now.
            host.following.review(on: host)
        }
    }

    func stop(on host: isolated some NetworkHost) {
        observation?.cancel()
        observation = nil
        host.timer(.network).cancel()
        host.timer(.stalls).cancel()
    }

    private func networkChanged(_ snapshot: NetworkSnapshot, on host: isolated some NetworkHost) {
        follow(snapshot, on: host)
        host.pump()
    }

    func follow(_ snapshot: NetworkSnapshot, on host: isolated some NetworkHost) {
        let now = MonotonicTime.now
        // The kernel is asked at each failure, too; what was found out holds until it says something else.
        let isNews = snapshot != network.snapshot
        let change = network.update(snapshot, now: now, wall: .now)
        if change.isOtherWay { engine.renewNetwork() }
        stopLost(change, on: host)
        if change.isOtherWay { watchStalls(now, on: host) }
        if isNews {
            network.unreachable.forget()
            network.ways.forget()
        }
        review(on: host)
    }

    /// Whether rules of the network keep something from starting.
    var holdsJobs: Bool { !network.waits.isEmpty }

    // MARK: What is under way

    /// Ends the transfers whose way is gone; they go on over what is left, or when there is something.
    private func stopLost(_ change: QueueNetwork.Change, on host: isolated some NetworkHost) {
        guard change.isOtherWay || !change.lost.isEmpty || !change.silent.isEmpty else { return }
        let error = TransferError(.networkChanged, "the network changed", isTransient: true)
        for job in host.jobs {
            guard job.stop == nil else { continue }
            // A transfer that can't go on from where it was keeps its connection as long as that may come back.
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
    private func enforce(on host: isolated some NetworkHost) {
        let wall = WallTime.now
        var allowed: [String: Set<IPAddress>?] = [:]
        let error = TransferError(.networkChanged, "the rules of its network don't allow it now", isTransient: true)
        for job in host.jobs where !job.candidate.lane.network.isEmpty {
            guard job.stop == nil else { continue }
            let key = job.candidate.lane.network
            let addresses = allowed[key] ?? network.allowedAddresses(key, wall: wall)
            allowed[key] = .some(addresses)
            guard let addresses else { continue }
            let isShut = host.gate.shut.contains(key)
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
    private func watchStalls(_ now: MonotonicTime, on host: isolated some NetworkHost) {
        network.stallsUntil = now + .seconds(10)
        let timer = host.timer(.stalls)
        if !timer.isScheduled { timer.schedule(at: now + .seconds(1)) }
    }

    func lookForStalls(on host: isolated some NetworkHost) {
        let now = MonotonicTime.now
        let error = TransferError(.networkChanged, "nothing came after the network changed", isTransient: true)
        for job in host.jobs where job.way.generation < network.generation {
            guard job.stop == nil, !job.handles.isEmpty else { continue }
            let position = job.meter.position + job.movedInAll
            if let mark = job.way.mark, mark == position, job.canGoOn {
                for handle in job.handles { handle.interrupt(error) { $0.remoteAddress?.isLoopback != true } }
            }
            job.way.mark = position
        }
        guard let end = network.stallsUntil, now < end, !host.jobs.isEmpty else { return }
        host.timer(.stalls).schedule(at: now + .seconds(1))
    }

    // MARK: What may start

    /// Opens and closes lanes by what the rules make of the network now.
    func review(on host: isolated some NetworkHost) {
        let (now, wall) = (MonotonicTime.now, WallTime.now)
        let before = host.closedLanes()
        let keys = host.networksInUse.union([""])
        var verdict = network.verdict(keys, now: now, wall: wall)
        verdict.gate.unreachable = network.unreachable.lanes(now: now)
        findWays(verdict.looksNearby, into: &verdict.gate, now, wall, on: host)
        let (old, gate) = (host.gate, verdict.gate)
        host.setGate(gate)
        host.turnToMirrors()
        if gate != old { announce(from: old, to: gate, wall, on: host) }
        announceToNewBatches(on: host)
        enforce(on: host)
        if !Set(before).subtracting(host.closedLanes()).isEmpty { host.wakeEarly() }
        scheduleReview(verdict, now, wall, on: host)
    }

    /// Whether a link is there that somebody may be on.
    private var hasNeighbours: Bool {
        !network.snapshot.isKnown || network.snapshot.links.contains { $0.kind != .loopback && $0.isRunning }
    }

    private func scheduleReview(
        _ verdict: QueueNetwork.Verdict, _ now: MonotonicTime, _ wall: WallTime, on host: isolated some NetworkHost
    ) {
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
        guard let next, !host.hasNoBatches else {
            return host.timer(.network).cancel()
        }
        host.timer(.network).schedule(at: max(next, now + .milliseconds(5)))
    }

    // MARK: What it costs

    /// Counts bytes by the link that they went over, as far as it's known, and against budgets of metered ones.
    func account(_ job: RunningJob, moved: Int64, on host: isolated some NetworkHost) {
        let new = moved - job.way.accounted
        guard new > 0 else { return }
        job.way.accounted = moved
        host.noteMoved(job, new)
        let isLocal = job.candidate.reach == .local
        let link =
            isLocal ? network.snapshot.links.first { $0.kind == .loopback } : network.likelyLink(job.way.link)
        guard let link else { return }
        let direction = job.record.spec.isUpload ? "upload" : "download"
        host.measure(Measurement(.linkBytes, [link.name, direction], .add(new)))
        guard !isLocal, network.snapshot.metering(of: link.index).isMetered else { return }
        let kind = LinkClass(network.snapshot.kind(of: link.index))
        network.usage.add(new, over: kind, at: .now, network.zone)
        network.hasNewUsage = true
    }

    /// Looks after budgets while transfers run.
    func accountAll(on host: isolated some NetworkHost) {
        for job in host.jobs { account(job, moved: job.movedInAll, on: host) }
        guard network.hasNewUsage else { return }
        network.hasNewUsage = false
        host.publish(.usage(network.usage.rows))
        if host.jobs.contains(where: { !$0.candidate.lane.network.isEmpty }) { review(on: host) }
    }

    func publishHealth(on host: isolated some NetworkHost) {
        let silent = network.snapshot.links.compactMap { link in
            network.health.suspicion(of: link.name).map { (link.name, $0) }
        }
        host.publish(.silentLinks(silent))
    }
}

extension WallTime {
    static var now: WallTime { WallTime(milliseconds: WallClock.milliseconds) }
}
