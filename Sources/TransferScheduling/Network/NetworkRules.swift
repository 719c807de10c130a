import TransferCore
package import TransferJobs
package import TransferReachability

/// The rules that decide which links a job may use now, and which it prefers.
package struct NetworkRules: Sendable {
    package var policy: NetworkPolicy
    package var now: WallTime
    package var zone: LocalZone
    /// The bytes that metered links have carried.
    package var usage = MeteredUsage()
    /// The time for which the job has waited for the network.
    package var waited = Duration.zero

    package init(
        policy: NetworkPolicy, now: WallTime, zone: LocalZone, usage: MeteredUsage = MeteredUsage(),
        waited: Duration = Duration.zero
    ) {
        self.policy = policy
        self.now = now
        self.zone = zone
        self.usage = usage
        self.waited = waited
    }

    /// Judges the links.
    ///
    /// - Parameter links: The links in the kernel's order of preference; `nil` if they are unknown. Then everything is
    ///   tried, and only a required link is enforced.
    package func judge(_ links: [LinkView]?) -> NetworkJudgement {
        // The loopback link has no default route, and cannot be forbidden.
        let verdicts = (links ?? []).filter { $0.kind != .loopback }
            .map { LinkVerdict(link: $0, standing: standing(of: $0)) }
        guard policy.schedule.contains(now, zone) else {
            let opening = policy.schedule.nextOpening(after: now, zone)
            return NetworkJudgement(decision: .wait(.closed(until: opening)), verdicts: verdicts)
        }
        let decision = links == nil ? decideBlindly() : decide(verdicts)
        return NetworkJudgement(decision: decision, verdicts: verdicts)
    }

    /// Returns whether these links may be used to reach a host on the local network, even if none has a default route.
    ///
    /// - Parameters:
    ///   - indexes: The links that the kernel would use.
    ///   - views: The views of the links in the snapshot.
    package func admits(_ indexes: [Int], _ snapshot: NetworkSnapshot, _ views: [LinkView]) -> Bool {
        let links = indexes.compactMap { snapshot.link($0) }.filter { $0.kind == .loopback || $0.isRunning }
        guard !links.isEmpty else { return false }
        return links.allSatisfy { link in
            if link.kind == .loopback { return policy.require == nil }
            guard let view = views.first(where: { $0.name == link.name }) else { return policy == NetworkPolicy() }
            return refusal(of: view) == nil
        }
    }

    /// Returns whether a rule forbids the link, with or without a default route.
    package func refuses(_ link: LinkView) -> Bool { refusal(of: link) != nil }

    private func decideBlindly() -> NetworkDecision {
        guard let require = policy.require else { return .anyLink }
        return require.exactName.map { .use([$0], mustBind: true) } ?? .wait(.unseen(require))
    }

    private func decide(_ verdicts: [LinkVerdict]) -> NetworkDecision {
        let usable = verdicts.compactMap { verdict -> (link: LinkView, tier: LinkVerdict.Tier)? in
            if case .usable(let tier) = verdict.standing { (verdict.link, tier) } else { nil }
        }
        guard let best = usable.map(\.tier).min() else { return .wait(reason(verdicts)) }
        var chosen = usable.filter { $0.tier == best }.map(\.link)
        // A job that asks only a dead server may continue to try, over a link on which other servers answer.
        if best == .suspect { chosen.removeAll { $0.suspicion?.isBlamed == true } }
        guard !chosen.isEmpty else { return .wait(.unanswered(usable.map(\.link.name))) }
        let ranks = chosen.map(rank)
        // Links that are down count as well, because they may come up before the connection is made.
        let mustBind = policy.require != nil || verdicts.contains { refusal(of: $0.link) != nil }
        let isOneAsGoodAsAnother = chosen.count == usable.count && Set(ranks).count == 1
        if isOneAsGoodAsAnother, !mustBind { return .anyLink }
        let order = chosen.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        return .use(order.map { chosen[$0].name }, mustBind: mustBind)
    }

    /// Returns the position in `prefer`; links that it does not contain come last.
    private func rank(_ link: LinkView) -> Int {
        policy.prefer.firstIndex(where: link.matches) ?? policy.prefer.count
    }

    private func standing(of link: LinkView) -> LinkVerdict.Standing {
        guard link.isUsable else { return .unusable }
        if let refusal = refusal(of: link) { return .refused(refusal) }
        if link.suspicion != nil { return .usable(.suspect) }
        if link.isMetered, policy.effectiveMetered == .avoid { return .usable(.metered) }
        return .usable(policy.avoid.contains(where: link.matches) ? .avoided : .good)
    }

    private func refusal(of link: LinkView) -> LinkVerdict.Refusal? {
        // The link itself must match, not a link that carries it: a required modem does not include the VPN over it.
        if let require = policy.require, !require.matches(name: link.name, kind: link.kind) { return .notRequired }
        if !policy.allow.isEmpty, !policy.allow.contains(where: link.matches) { return .notAllowed }
        guard link.isMetered else { return nil }
        switch policy.effectiveMetered {
        case .forbid: return .metered
        case .avoid:
            let patience = policy.meteredAfter ?? .zero
            if waited < patience { return .meteredNotYet(until: now + (patience - waited)) }
        case .allow: break
        }
        guard let budget = policy.meteredBudget, usage.used(in: budget.period, at: now, zone) >= budget.bytes else {
            return nil
        }
        return .budget(until: budget.period.end(at: now, zone))
    }

    /// Returns why no link can be used. The reason of the link that is nearest to being usable decides.
    private func reason(_ verdicts: [LinkVerdict]) -> NetworkWait {
        if let require = policy.require {
            let required = verdicts.filter { $0.standing != .refused(.notRequired) }
                .filter { require.matches(name: $0.link.name, kind: $0.link.kind) }
            guard let first = required.first else { return .missing(require) }
            if required.allSatisfy({ $0.standing == .unusable }) { return .down(first.link.name) }
        }
        let refusals = verdicts.compactMap { verdict -> LinkVerdict.Refusal? in
            if case .refused(let refusal) = verdict.standing { refusal } else { nil }
        }
        for refusal in refusals {
            if case .meteredNotYet(let until) = refusal { return .meteredNotYet(until: until) }
        }
        for refusal in refusals { if case .budget(let until) = refusal { return .budget(until: until) } }
        if refusals.contains(.metered) { return .metered }
        return refusals.contains(.notAllowed) ? .notAllowed : .offline
    }
}
