import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling

// The network path of one job: the link that it takes, the verdict on that link at its end, and whether the network is
// to blame.
extension NetworkFollower {
    /// Chooses the path of a job that is about to start: a link to bind it to, or `.some(nil)` for the kernel's choice.
    ///
    /// - Returns: `nil` if there is no path any longer.
    func way(for job: RunningJob, on host: isolated some NetworkHost) -> String?? {
        guard let way = takeWay(job, on: host) else { return nil }
        job.way.generation = network.generation
        return way
    }

    private func takeWay(_ job: RunningJob, on host: isolated some NetworkHost) -> String?? {
        let lane = job.candidate.lane
        guard job.candidate.reach != .local else {
            // A schedule closes even local jobs, because it does not depend on links.
            return host.gate.shut.contains(lane.network) ? nil : .some(nil)
        }
        let judgement = network.judgement(lane.network, wall: .now)
        let link: String?
        switch judgement.decision {
        case .anyLink: link = nil
        case .use(let names, _): link = names.first
        case .wait(.unanswered(let names)):
            guard let probe = takeProbe(among: names) else { return nil }
            job.way.isProbe = true
            job.way.link = probe
            return probe
        case .wait:
            // The server may be on a network that is reached without a default route.
            review(on: host)
            guard host.isOpen(lane, job.candidate.reach) else { return nil }
            link = directLink(job)
            job.way.link = link
            return link
        }
        if let probe = takeProbe(among: judgement.suspects) {
            job.way.isProbe = true
            job.way.link = probe
            return probe
        }
        job.way.link = link
        return link
    }

    /// Returns whether the kernel has a route to the address over a running link.
    private func leads(to address: IPAddress, over link: String?) -> Bool {
        let index = link.flatMap { network.snapshot.link(named: $0)?.index }
        guard let route = monitor.route(to: address, over: index) else { return !network.snapshot.isKnown }
        return network.snapshot.link(route.link)?.isRunning ?? true
    }

    private func takeProbe(among names: [String]) -> String? {
        guard let next = network.health.nextProbe, next <= .now else { return nil }
        var probe: String?
        for name in network.health.takeProbes(now: .now) {
            if probe == nil, names.contains(name) {
                probe = name
            } else {
                _ = network.health.event(.probeAbandoned, of: name, now: .now, wall: .now)
            }
        }
        return probe
    }

    /// Judges the link that an exchange used by the exchange's end.
    func judgeLink(_ job: RunningJob, _ outcome: ExchangeOutcome, on host: isolated some NetworkHost) {
        // An exchange with the local network says nothing about default routes.
        guard let machine = job.candidate.reach.host, !isDirect(machine, job.candidate.lane, on: host),
            let link = network.likelyLink(job.way.link)
        else { return }
        let event: LinkHealth.Event
        switch LinkAnswer(outcome) {
        case .given: event = .answered
        case .none:
            let proxy: String? = if case .failure(let error) = outcome.result { error.proxyHost } else { nil }
            event = .unanswered(host: proxy ?? host.host(of: job) ?? job.url, started: job.started)
        case .unknown:
            guard job.way.isProbe else { return }
            event = .probeAbandoned
        }
        switch network.health.event(event, of: link.name, now: .now, wall: .now) {
        case .none: break
        case .suspect, .trust:
            publishHealth(on: host)
            review(on: host)
            // The review runs after the handling of this end, because a fault blamed on the origin was the link's.
            host.loop.execute {
                host.onLoop { host in
                    host.wakeEarly()
                    host.pump()
                }
            }
        }
    }

    /// Returns why an attempt failed, if this machine's network is the reason, so that no attempt is spent.
    func fault(_ job: RunningJob, _ error: TransferError, on host: isolated some NetworkHost) -> String? {
        guard error.status == nil else { return nil }
        // For a proxy that takes addresses, the names of servers are resolved here.
        let isName = error.code == .cannotResolveHost && error.proxy == nil
        let reach = isName ? OriginReach(origin: job.candidate.lane.origin) : job.candidate.reach
        guard reach != .local else { return nil }
        switch error.code {
        case .networkChanged: break
        case .cannotResolveHost, .cannotConnect, .connectionLost, .timedOut, .secureConnectionFailed, .linkUnavailable:
            // The kernel's notice of the change may still be on its way, so the kernel is queried.
            if let snapshot = monitor.asked() { follow(snapshot, on: host) }
        default: return nil
        }
        let wall = WallTime.now
        let lane = job.candidate.lane
        let judgement = network.judgement(lane.network, wall: wall)
        let words = NetworkText(policy: network.policy(lane.network), now: wall, zone: network.zone)
        if job.way.generation != network.generation || error.code == .networkChanged {
            return words.reason(judgement) ?? error.message
        }
        if job.way.isProbe { return words.reason(judgement) ?? "no answer over \(job.way.link ?? "the link")" }
        if !host.isOpen(lane, job.candidate.reach) { return words.reason(judgement) ?? "offline" }
        guard network.snapshot.isKnown else { return nil }
        switch reach {
        case .local: return nil
        case .name(let machine):
            guard network.snapshot.waysOut.isEmpty, isName ? !hasNameServer : !isDirect(machine, lane, on: host) else {
                return settling(error)
            }
        case .address(let address, _):
            guard !leads(to: address, over: job.way.link) else { return settling(error) }
        }
        network.unreachable.insert(lane)
        review(on: host)
        return words.offline(judgement.verdicts.map(\.link))
    }

    private func isDirect(_ machine: String, _ lane: Lane, on host: isolated some NetworkHost) -> Bool {
        host.isDirect(HostUnderRules(host: machine, network: lane.network))
    }

    /// Returns the reason if a failure right after a change may be the change's fault.
    private func settling(_ error: TransferError) -> String? {
        guard network.isSettling(.now), error.code == .cannotConnect || error.code == .cannotResolveHost else {
            return nil
        }
        return "the network settles: \(error.message)"
    }

    /// Returns the job to the queue with its bytes, to start again when there is a path.
    func wait(
        _ job: RunningJob, _ reason: String?, resume: ResumeData? = nil, progressed: Bool = false,
        on host: isolated some NetworkHost
    ) {
        // A short wait avoids an endless loop.
        let isCircle = network.isSettling(.now) && job.way.generation == network.generation
        let text = reason ?? self.reason(job.candidate.lane.network) ?? "the network changed"
        host.leave(
            job,
            .wait(
                wait(under: job.candidate.lane.network, text), after: isCircle ? .milliseconds(200) : nil,
                resume: resume, startsCountAnew: progressed))
    }

    func reason(_ key: String) -> String? {
        NetworkText(policy: network.policy(key), now: .now, zone: network.zone)
            .reason(network.judgement(key, wall: .now))
    }
}

extension NetworkJudgement {
    /// The links over which no server answers, and that no rule forbids.
    var suspects: [String] {
        verdicts.compactMap { if case .usable(.suspect) = $0.standing { $0.link.name } else { nil } }
    }
}
