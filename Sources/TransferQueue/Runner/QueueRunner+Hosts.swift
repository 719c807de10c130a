import TransferCore
import TransferEngine
import TransferEventLoop
import TransferReachability

// Where no link leads out, or none that the rules allow, a job may still go to a host on the machine's own network.
extension QueueRunner {
    /// What is known of the ways to the hosts that wait; what isn't is asked for.
    ///
    /// - Parameter keys: Rules under which only such hosts are reached.
    func findWays(_ keys: Set<String>, into gate: inout NetworkGate, _ now: MonotonicTime, _ wall: WallTime) {
        guard !keys.isEmpty else { return }
        var hosts = scheduler.hosts(under: keys).union(mirrorHosts(under: keys, gate))
        for job in running.values where keys.contains(job.candidate.lane.network) {
            guard let host = job.candidate.reach.host else { continue }
            hosts.insert(HostUnderRules(host: host, network: job.candidate.lane.network))
        }
        var questions: Set<HostWays.Question> = []
        for host in hosts { questions.insert(question(host)) }
        for question in network.ways.ask(questions, now: now) { find(question) }
        for host in hosts {
            switch network.ways.finding(question(host)) {
            case nil: gate.undecided.insert(host)
            case .routes(let links):
                if network.admits(links, host.network, wall: wall) { gate.direct.insert(host) }
            // No rule keeps it from a link; the attempt says what is wrong with the name.
            case .unknownName: if gate.offline.contains(host.network) { gate.direct.insert(host) }
            case .unanswered: break
            }
        }
    }

    /// The link that a job to such a host is bound to: one that its rules require.
    func directLink(_ job: RunningJob) -> String? {
        let lane = job.candidate.lane
        guard network.policy(lane.network).require != nil, let host = job.candidate.reach.host,
            case .routes(let links) = network.ways.finding(question(HostUnderRules(host: host, network: lane.network)))
        else { return nil }
        return links.first.flatMap { network.snapshot.link($0)?.name }
    }

    private func question(_ host: HostUnderRules) -> HostWays.Question {
        HostWays.Question(host: host.host, link: network.policy(host.network).require?.exactName)
    }

    private func find(_ question: HostWays.Question) {
        let generation = network.ways.generation
        let look = hostLook
        if IPAddress(question.host) != nil {
            return network.ways.answered(
                question, look.finding(question, .success([question.host])), generation: generation, now: .now)
        }
        engine.resolver.find(question.host, link: question.link) { [weak self] answer in
            let finding = look.finding(question, answer)
            guard let self else { return }
            loop.execute {
                self.onLoop { runner in
                    runner.network.ways.answered(question, finding, generation: generation, now: .now)
                    runner.reviewSoon()
                }
            }
        }
    }

    /// Once for all answers that came together.
    func reviewSoon() {
        guard !state.isReviewDue else { return }
        state.isReviewDue = true
        loop.atEndOfTurn { [weak self] in
            self?.onLoop {
                $0.state.isReviewDue = false
                $0.review()
                $0.pump()
            }
        }
    }

    /// Whether somebody can be asked for names.
    var hasNameServer: Bool { hostLook.hasNameServer }

    private var hostLook: HostLook { HostLook(monitor: monitor) }
}
