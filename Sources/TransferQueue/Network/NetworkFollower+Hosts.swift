import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling

// Hosts on the machine's own network. A job may use them although no link leads to the internet, or none that the rules
// allow.
extension NetworkFollower {
    /// Adds the known paths to waiting hosts to the gate, and looks the others up.
    ///
    /// - Parameter keys: The rules under which only such hosts are reached.
    func findWays(
        _ keys: Set<String>, into gate: inout NetworkGate, _ now: MonotonicTime, _ wall: WallTime,
        on host: isolated some NetworkHost
    ) {
        guard !keys.isEmpty else { return }
        let machines = host.machines(under: keys, gate)
        let questions = Set(machines.map(question))
        for question in network.ways.ask(questions, now: now) { find(question, on: host) }
        for machine in machines {
            switch network.ways.finding(question(machine)) {
            case nil: gate.undecided.insert(machine)
            case .routes(let links):
                if network.admits(links, machine.network, wall: wall) { gate.direct.insert(machine) }
            // No rule restricts the links, so the attempt itself may report the fault of the name.
            case .unknownName: if gate.offline.contains(machine.network) { gate.direct.insert(machine) }
            case .unanswered: break
            }
        }
    }

    /// Returns the link to bind a job to such a host to, if its rules require one.
    func directLink(_ job: RunningJob) -> String? {
        let lane = job.candidate.lane
        guard network.policy(lane.network).require != nil, let machine = job.candidate.reach.host,
            case .routes(let links) = network.ways.finding(
                question(HostUnderRules(host: machine, network: lane.network)))
        else { return nil }
        return links.first.flatMap { network.snapshot.link($0)?.name }
    }

    private func question(_ machine: HostUnderRules) -> HostWays.Question {
        HostWays.Question(host: machine.host, link: network.policy(machine.network).require?.exactName)
    }

    private func find(_ question: HostWays.Question, on host: isolated some NetworkHost) {
        let generation = network.ways.generation
        let look = hostLook
        if IPAddress(question.host) != nil {
            return network.ways.answered(
                question, look.finding(question, .success([question.host])), generation: generation, now: .now)
        }
        engine.find(question.host, link: question.link) { [weak host] answer in
            let finding = look.finding(question, answer)
            guard let host else { return }
            host.loop.execute {
                host.onLoop { host in
                    host.following.network.ways.answered(question, finding, generation: generation, now: .now)
                    host.following.reviewSoon(on: host)
                }
            }
        }
    }

    /// Reviews the network once for all answers that came together.
    func reviewSoon(on host: isolated some NetworkHost) {
        guard !isReviewDue else { return }
        isReviewDue = true
        host.loop.atEndOfTurn { [weak host] in
            host?.onLoop {
                $0.following.isReviewDue = false
                $0.following.review(on: $0)
                $0.pump()
            }
        }
    }

    /// Whether a name server can be asked.
    var hasNameServer: Bool { hostLook.hasNameServer }

    private var hostLook: HostLook { HostLook(monitor: monitor) }
}
