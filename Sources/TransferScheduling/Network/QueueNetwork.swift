package import TransferCore
package import TransferJobs
package import TransferReachability

/// The queue's knowledge of the network, and the rules of its jobs. Pure: it is told what the kernel
/// says and at what time, and says what may start, over which links, and what is to be stopped.
package struct QueueNetwork: Sendable {
    /// The meaning of a network's change for connections.
    package struct Change: Sendable, Equatable {
        /// Addresses of this machine that are gone: what used them can only end.
        package var lost: Set<IPAddress> = []
        /// Addresses on links that carry nothing any more, and may carry again.
        package var silent: Set<IPAddress> = []
        /// Whether there are other ways than before: connections of before may hang, and names may mean other things.
        package var isOtherWay = false
    }

    /// The rules that let jobs start, and when to look again though nothing happens.
    package struct Verdict: Sendable, Equatable {
        package var gate = NetworkGate()
        /// Rules under which only hosts on the machine's own network are reached, which have to be found.
        package var looksNearby: Set<String> = []
        package var lookAgain: WallTime?
        package var probe: MonotonicTime?
    }

    package private(set) var snapshot = NetworkSnapshot.unknown
    package var health = LinkHealth()
    package var usage = MeteredUsage()
    package let zone: LocalZone
    /// Counts the changes that make connections of before doubtful.
    package private(set) var generation = 0
    private var changedAt: MonotonicTime?
    /// The ways out that the last change took, in words.
    package private(set) var losses: [String] = []
    /// Lanes whose origins the network that is there doesn't lead to.
    package var unreachable = UnreachableLanes()
    /// Hosts that may be reached without a way out.
    package var ways = HostWays()
    /// Rules (``/TransferJobs/Lane/network``) that let nothing start.
    package var waits: [String: NetworkPause] = [:]
    /// Until then transfers that don't move are looked for.
    package var stallsUntil: MonotonicTime?
    /// Whether bytes were counted that aren't stored yet.
    package var hasNewUsage = false
    private var policies: [String: NetworkPolicy] = [:]
    /// Rules that wait for an unmetered link, since when, and how long by the last look.
    private var meteredWaits: [String: (since: MonotonicTime, waited: Duration)] = [:]

    package init(zone: LocalZone = .system) { self.zone = zone }

    // MARK: Events

    package mutating func update(_ new: NetworkSnapshot, now: MonotonicTime, wall: WallTime) -> Change {
        let old = snapshot
        snapshot = new
        losses = []
        guard new != old else { return Change() }
        tellHealth(old, new, now, wall)
        var change = Change()
        let (before, after) = (Self.ways(old), Self.ways(new))
        change.lost = Set(old.links.flatMap(\.addresses).map(\.address))
            .subtracting(new.links.flatMap(\.addresses).map(\.address))
        let ran = Set(old.links.filter(\.isRunning).map(\.index))
        for link in new.links where ran.contains(link.index) && !link.isRunning {
            change.silent.formUnion(link.addresses.map(\.address))
        }
        change.isOtherWay = old.isKnown && before != after
        losses = Self.losses(old, new)
        if change.isOtherWay {
            generation += 1
            changedAt = now
        }
        return change
    }

    /// Links whose state changed are judged anew by what their connections show.
    private mutating func tellHealth(
        _ old: NetworkSnapshot, _ new: NetworkSnapshot, _ now: MonotonicTime, _ wall: WallTime
    ) {
        for link in new.links {
            guard let before = old.link(link.index) else { continue }
            if before.name != link.name { _ = health.event(.removed, of: before.name, now: now, wall: wall) }
            let routes = { (snapshot: NetworkSnapshot) in snapshot.defaultRoutes.filter { $0.link == link.index } }
            if before.isRunning != link.isRunning || before.addresses != link.addresses || routes(old) != routes(new) {
                _ = health.event(.changed, of: link.name, now: now, wall: wall)
            }
        }
        for link in old.links where new.link(link.index) == nil {
            _ = health.event(.removed, of: link.name, now: now, wall: wall)
        }
    }

    /// The ways that connections are made over: where one of these changes, those of before can't be relied on.
    private struct Ways: Equatable {
        /// Addresses of links that run; those that reach neighbours only say nothing.
        var addresses: Set<NetworkSnapshot.Address> = []
        var routes: [NetworkSnapshot.DefaultRoute] = []
    }

    private static func ways(_ snapshot: NetworkSnapshot) -> Ways {
        var ways = Ways()
        for link in snapshot.links where link.isRunning && !link.isLoopback {
            ways.addresses.formUnion(link.addresses.filter { $0.isUsable && $0.scope != .link && $0.scope != .host })
        }
        let out = Set(snapshot.waysOut.map(\.index))
        ways.routes = snapshot.defaultRoutes.filter { out.contains($0.link) && $0.rulePriority != nil }
        return ways
    }

    // MARK: Questions

    /// - Parameter key: ``/TransferJobs/Lane/network``.
    package func policy(_ key: String) -> NetworkPolicy { policies[key] ?? NetworkPolicy(key: key) }

    package func judgement(_ key: String, wall: WallTime) -> NetworkJudgement {
        judgement(policy(key), waited: meteredWaits[key]?.waited ?? .zero, wall)
    }

    private func judgement(_ policy: NetworkPolicy, waited: Duration, _ wall: WallTime) -> NetworkJudgement {
        rules(policy, waited: waited, wall).judge(snapshot.isKnown ? LinkView.views(snapshot, health) : nil).relented
    }

    private func rules(_ policy: NetworkPolicy, waited: Duration = .zero, _ wall: WallTime) -> NetworkRules {
        NetworkRules(policy: policy, now: wall, zone: zone, usage: usage, waited: waited)
    }

    /// Whether these rules let something go over these links to a host on the machine's own network.
    package func admits(_ links: [Int], _ key: String, wall: WallTime) -> Bool {
        rules(policy(key), wall).admits(links, snapshot, LinkView.views(snapshot, health))
    }

    /// The verdict on each of these rules.
    package mutating func verdict(_ keys: Set<String>, now: MonotonicTime, wall: WallTime) -> Verdict {
        if policies.count > 1024 { policies = policies.filter { keys.contains($0.key) } }
        meteredWaits = meteredWaits.filter { keys.contains($0.key) }
        var verdict = Verdict()
        func lookAgain(_ time: WallTime?) {
            if let time { verdict.lookAgain = min(verdict.lookAgain ?? time, time) }
        }
        for key in keys {
            if policies[key] == nil { policies[key] = NetworkPolicy(key: key) }
            let policy = policy(key)
            if case .wait(.meteredNotYet) = judgement(policy, waited: .zero, wall).decision {
                let since = meteredWaits[key]?.since ?? now
                meteredWaits[key] = (since, now - since)
            } else {
                meteredWaits[key] = nil
            }
            switch judgement(key, wall: wall).decision {
            case .anyLink, .use:
                if !policy.schedule.isAlways { lookAgain(policy.schedule.nextClosing(after: wall, zone)) }
            case .wait(.closed(let until)):
                verdict.gate.shut.insert(key)
                lookAgain(until)
            case .wait(.offline):
                verdict.gate.offline.insert(key)
                verdict.looksNearby.insert(key)
            case .wait(.unanswered):
                // One may try whether somebody answers again.
                if health.nextProbe.map({ $0 > now }) ?? true { verdict.gate.closed.insert(key) }
            case .wait(let wait):
                verdict.gate.closed.insert(key)
                if wait.isForWayOut { verdict.looksNearby.insert(key) }
                lookAgain(wait.until)
            }
        }
        verdict.probe = health.nextProbe
        return verdict
    }

    /// The addresses that transfers under these rules may go on from; `nil` where every one will do.
    package func allowedAddresses(_ key: String, wall: WallTime) -> Set<IPAddress>? {
        guard !key.isEmpty, snapshot.isKnown else { return nil }
        let judgement = judgement(key, wall: wall)
        switch judgement.decision {
        case .wait(.offline), .wait(.unanswered), .anyLink: return nil
        case .wait(.closed): return []
        case .wait, .use:
            // Links that lead nowhere count, too: an exchange over them is on the machine's own network.
            let rules = rules(policy(key), wall)
            let names = Set(
                judgement.verdicts.lazy.filter { verdict in
                    if case .usable = verdict.standing { true } else { !rules.refuses(verdict.link) }
                }.map(\.link.name))
            return Set(snapshot.links.filter { names.contains($0.name) }.flatMap(\.addresses).map(\.address))
        }
    }

    /// Whether the network changed just now: neighbours are still being found, and routers send what is out of date.
    package func isSettling(_ now: MonotonicTime) -> Bool { changedAt.map { now - $0 < .seconds(3) } ?? false }

    /// The link that something bound to none most likely goes over.
    package func likelyLink(_ bound: String?) -> NetworkSnapshot.Link? {
        bound.flatMap { snapshot.link(named: $0) } ?? (bound == nil ? snapshot.waysOut.first : nil)
    }
}

extension NetworkJudgement {
    /// With no other link that a rule keeps it from, an unanswered one is all there is: the server may be dead, and that
    /// is for the attempts to find out.
    package var relented: NetworkJudgement {
        var judgement = self
        if case .wait(.unanswered) = decision, !hasRefused { judgement.decision = .anyLink }
        return judgement
    }

    /// Whether a rule keeps from a link that leads out.
    package var hasRefused: Bool {
        verdicts.contains { if case .refused = $0.standing { true } else { false } }
    }
}
