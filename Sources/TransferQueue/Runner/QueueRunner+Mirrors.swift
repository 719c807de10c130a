import TransferCore

// A download whose server the network doesn't lead to is fetched from a mirror that it leads to.
extension QueueRunner {
    /// The machines that the other mirrors of downloads are on which would wait.
    func mirrorHosts(under networks: Set<String>, _ gate: NetworkGate) -> Set<HostUnderRules> {
        var hosts: Set<HostUnderRules> = []
        for candidate in scheduler.kept(by: gate) where networks.contains(candidate.lane.network) {
            for turn in otherMirrors(of: candidate) {
                guard let host = turn.reach.host else { continue }
                hosts.insert(HostUnderRules(host: host, network: turn.lane.network))
            }
        }
        return hosts
    }

    /// No attempt is spent: nothing was asked of the server that can't be reached, and a later attempt may go there.
    func turnToMirrors() {
        var turned: [Scheduler.Candidate] = []
        for candidate in scheduler.kept(by: scheduler.network) {
            guard
                let turn = otherMirrors(of: candidate).first(where: { scheduler.network.isOpen($0.lane, $0.reach) })
            else { continue }
            admission.turn(candidate.id, to: turn.mirror)
            turned.append(candidate.turned(to: turn.lane, turn.reach))
        }
        guard !turned.isEmpty else { return }
        let ids = Set(turned.map(\.id))
        _ = scheduler.remove { ids.contains($0.id) }
        for candidate in turned { scheduler.joined(candidate) }
    }

    private struct Turn {
        let mirror: Int
        let lane: Lane
        let reach: OriginReach
    }

    /// In the order of their turn.
    private func otherMirrors(of candidate: Scheduler.Candidate) -> [Turn] {
        guard let record = admission.claimed[candidate.id], case .download(let download) = record.spec.work else {
            return []
        }
        return (1..<max(1, download.urls.count)).compactMap { step in
            let mirror = (record.mirror + step) % download.urls.count
            guard !record.hasSpent(mirror) else { return nil }
            let origin = record.spec.origin(mirror: mirror)
            return Turn(
                mirror: mirror,
                lane: Lane(batch: candidate.lane.batch, origin: origin, network: candidate.lane.network),
                reach: builder.reach(record.spec, origin: origin, straight: OriginReach(origin: origin)))
        }
    }
}
