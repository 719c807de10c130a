package import TransferCore
package import TransferJobs
package import TransferReachability

/// The queue's knowledge of the network, and the rules of its jobs. Pure: it takes the kernel's notices with their
/// times. It decides which jobs may start, over which links, and which transfers are stopped.
package struct QueueNetwork: Sendable {
    /// The effect of a network change on connections.
    package struct Change: Sendable, Equatable {
        /// The addresses of this machine that are gone, so that connections from them can only end.
        package var lost: Set<IPAddress> = []
        /// The addresses on links that are not running, and may recover.
        package var silent: Set<IPAddress> = []
        /// Whether the routes have changed, so that earlier connections may hang and names may resolve differently.
        package var isOtherWay = false
    }

    /// The rules that let jobs start, and the time of the next review without an event.
    package struct Verdict: Sendable, Equatable {
        package var gate = NetworkGate()
        /// The rules under which only hosts on the local network are reached, which have to be looked up.
        package var looksNearby: Set<String> = []
        package var lookAgain: WallTime?
        package var probe: MonotonicTime?
    }

    package private(set) var snapshot = NetworkSnapshot.unknown
    package var health = LinkHealth()
    package var usage = MeteredUsage()
    package let zone: LocalZone
    /// The number of changes that made earlier connections doubtful.
    package private(set) var generation = 0
    private var changedAt: MonotonicTime?
    /// The links that lost their default route in the last change, in words.
    package private(set) var losses: [String] = []
    /// The lanes whose origins the present network does not reach.
    package var unreachable = UnreachableLanes()
    /// The hosts that may be reached without a default route.
    package var ways = HostWays()
    /// The rules (``/TransferJobs/Lane/network``) that let no job start.
    package var waits: [String: NetworkPause] = [:]
    /// The time until which transfers are checked for stalls.
    package var stallsUntil: MonotonicTime?
    /// Whether bytes were counted that are not stored yet.
    package var hasNewUsage = false
    private var policies: [String: NetworkPolicy] = [:]
    /// The rules that wait for an unmetered link: since when, and how long at the last review.
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

    /// Resets the evidence of links whose state changed.
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

    /// The addresses and routes that connections use. If one of them changes, earlier connections are unreliable.
    private struct Ways: Equatable {
        /// The addresses of running links, without those that reach only neighbours.
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

    /// Returns the policy of a rule key.
    ///
    /// - Parameter key: The value of ``/TransferJobs/Lane/network``.
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

    /// Returns whether these rules let these links be used to reach a host on the local network.
    package func admits(_ links: [Int], _ key: String, wall: WallTime) -> Bool {
        rules(policy(key), wall).admits(links, snapshot, LinkView.views(snapshot, health))
    }

    /// Returns the verdict on each of these rules.
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
                // One job may try whether a host answers again.
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

    /// Returns the addresses from which transfers under these rules may continue; `nil` if all may.
    package func allowedAddresses(_ key: String, wall: WallTime) -> Set<IPAddress>? {
        guard !key.isEmpty, snapshot.isKnown else { return nil }
        let judgement = judgement(key, wall: wall)
        switch judgement.decision {
        case .wait(.offline), .wait(.unanswered), .anyLink: return nil
        case .wait(.closed): return []
        case .wait, .use:
            // Links without a default route count too, because exchanges over them are with the local network.
            let rules = rules(policy(key), wall)
            let names = Set(
                judgement.verdicts.lazy.filter { verdict in
                    if case .usable = verdict.standing { true } else { !rules.refuses(verdict.link) }
                }.map(\.link.name))
            return Set(snapshot.links.filter { names.contains($0.name) }.flatMap(\.addresses).map(\.address))
        }
    }

    /// Returns whether the network changed just now, so that neighbours are still being discovered and routers send
    /// outdated data.
    package func isSettling(_ now: MonotonicTime) -> Bool { changedAt.map { now - $0 < .seconds(3) } ?? false }

    /// Returns the link that a connection most likely uses, given the link that it is bound to.
    package func likelyLink(_ bound: String?) -> NetworkSnapshot.Link? {
        bound.flatMap { snapshot.link(named: $0) } ?? (bound == nil ? snapshot.waysOut.first : nil)
    }
}

extension NetworkJudgement {
    /// The judgement in which an unanswered link may be tried if no other is forbidden by a rule. The server may be
    /// dead, which the attempts will show.
    package var relented: NetworkJudgement {
        var judgement = self
        if case .wait(.unanswered) = decision, !hasRefused { judgement.decision = .anyLink }
        return judgement
    }

    /// Whether a rule forbids a link that has a default route.
    package var hasRefused: Bool {
        verdicts.contains { if case .refused = $0.standing { true } else { false } }
    }
}
