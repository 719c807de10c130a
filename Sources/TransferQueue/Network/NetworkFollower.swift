import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling

/// The part of the runner that following the network needs.
protocol NetworkHost: PartHost {
    var following: NetworkFollower { get }
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    /// The batches that have not ended.
    var openBatches: [Int64] { get }
    /// Whether there is no batch, ended or not.
    var hasNoBatches: Bool { get }
    /// The rules (``/TransferJobs/Lane/network``) of jobs that may start, including jobs that were given back and will
    /// return.
    var networksInUse: Set<String> { get }
    /// Notes that the job's transfer has moved more bytes.
    func noteMoved(_ job: RunningJob, _ bytes: Int64)
    /// The scheduler's gate, which holds the lanes that the network lets start.
    var gate: NetworkGate { get }
    func setGate(_ gate: NetworkGate)
    func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool
    func isDirect(_ host: HostUnderRules) -> Bool
    func closedLanes() -> [Lane]
    /// Returns the batches with jobs that wait under these rules. Its counterpart returns those with jobs that
    /// continue.
    func batchesHeld(under network: String) -> Set<Int64>
    func batchesThatGoOn(under network: String) -> Set<Int64>
    /// Returns the hosts that jobs under these rules would contact through this gate.
    func machines(under networks: Set<String>, _ gate: NetworkGate) -> Set<HostUnderRules>
    /// Moves jobs with an unreachable server to a reachable mirror.
    func turnToMirrors()
    /// Ends the backoff of jobs that wait for their next attempt.
    func wakeEarly()
    func host(of job: RunningJob) -> String?
    func leave(_ job: RunningJob, _ outcome: JobOutcome)
}

/// The queue's view of the network. Notices of the kernel update ``/TransferScheduling/QueueNetwork``, whose decisions
/// open and close lanes of the scheduler. They also end transfers whose path is gone, which spends no attempts.
final class NetworkFollower {
    var network = QueueNetwork()
    let monitor: NetworkMonitor
    let engine: any ExchangePerformer
    private var observation: NetworkObservation?
    /// Whether the network is judged anew at the end of this turn of the loop.
    var isReviewDue = false

    init(monitor: NetworkMonitor, engine: any ExchangePerformer) {
        self.monitor = monitor
        self.engine = engine
    }

    /// Starts to listen, from the kernel's current state.
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
            // A spent budget becomes known only now.
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
        // The kernel is also queried at each failure. Conclusions are kept until it reports a change.
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

    /// Whether network rules keep jobs from starting.
    var holdsJobs: Bool { !network.waits.isEmpty }

    // MARK: Transfers under way

    /// Ends the transfers whose path is gone. They continue over the remaining links, or when there is one.
    private func stopLost(_ change: QueueNetwork.Change, on host: isolated some NetworkHost) {
        guard change.isOtherWay || !change.lost.isEmpty || !change.silent.isEmpty else { return }
        let error = TransferError(.networkChanged, "the network changed", isTransient: true)
        for job in host.jobs {
            guard job.stop == nil else { continue }
            // A transfer that cannot resume keeps its connection while that may recover.
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

    /// Ends transfers over a link that their rules no longer allow, after a change of schedule, budget or route.
    private func enforce(on host: isolated some NetworkHost) {
        let wall = WallTime.now
        var allowed: [String: Set<IPAddress>?] = [:]
        let error = TransferError(.networkChanged, "the rules of its network do not allow it now", isTransient: true)
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

    /// Starts to watch for stalls. After a change of routes a connection may hang although its address remains:
    /// transfers that do not move within a second are restarted. The watch lasts ten seconds.
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

    // MARK: Startable jobs

    /// Opens and closes lanes by the rules and the present state of the network.
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

    /// Whether there is a link that may have local hosts.
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
            // The timer is a little late on purpose: a little early, nothing would have changed yet.
            let left = Duration.milliseconds(max(0, time.milliseconds - wall.milliseconds) + 20)
            next = min(next ?? now + left, now + min(left, .seconds(60)))
        }
        guard let next, !host.hasNoBatches else {
            return host.timer(.network).cancel()
        }
        host.timer(.network).schedule(at: max(next, now + .milliseconds(5)))
    }

    // MARK: Metered usage

    /// Counts bytes by the link that they used, if it is known, and against budgets of metered links.
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

    /// Checks budgets while transfers run.
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
