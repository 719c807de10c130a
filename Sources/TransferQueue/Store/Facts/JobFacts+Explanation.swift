import TransferCore
import TransferEngine
import TransferReachability

extension JobFacts {
    /// What the facts, and the network of the moment, come to.
    ///
    /// - Parameter look: Finds whether a host can be reached without a way out; called where that is the question. `nil`
    ///   where nobody can tell.
    func explanation(
        _ snapshot: NetworkSnapshot, now: WallTime, zone: LocalZone,
        look: (HostWays.Question) -> HostWays.Finding? = { _ in nil }
    ) -> JobExplanation {
        var explanation = JobExplanation(
            batch: batch, job: identity, state: state, isUpload: spec.isUpload, reason: .stopped, attempts: attempts,
            attemptLimit: spec.settings.retry.limit ?? 10, pid: pid, source: source)
        if !state.hasEnded, let record = self.upload, record.state != nil, case .upload(let upload) = spec.work {
            explanation.sent = JobExplanation.Sent(
                bytes: record.confirmed, total: record.size, uploadProtocol: upload.uploadProtocol.rawValue)
        }
        switch state {
        case .done: explanation.reason = .done(path: path ?? "")
        case .failed:
            // By the process that watches its folder.
            let again = pid == nil ? nil : remaining
            explanation.reason = .failed(code: errorCode ?? "", message: errorMessage ?? "", host: host, again: again)
        case .skipped: explanation.reason = .skipped(errorMessage ?? "")
        case .cancelled: explanation.reason = .cancelled
        case .paused: explanation.reason = .paused
        case .blocked: explanation.reason = .needs(needs)
        // Neither the network nor a pause that others wait for keeps it from anything.
        case .claimed where pid != nil && isUnderWay: explanation.reason = .running(active: active)
        case .queued, .claimed, .waiting:
            guard pid != nil else { break }
            if explainNetwork(&explanation, snapshot, now, zone, look) { break }
            explanation.reason = turn()
            if case .retry = explanation.reason { explanation.lastError = errorMessage }
        }
        return explanation
    }

    /// What is left when the network isn't the reason.
    private func turn() -> JobExplanation.Reason {
        if let pause, pause.remaining > .zero {
            return .host(
                origin: pause.origin, status: pause.status, message: pause.message, remaining: pause.remaining)
        }
        // While its origin is paused one job tries for all of them; one that was tried itself may have to wait for longer.
        if let hostWait, state != .waiting || hostWait.remaining >= remaining ?? .zero {
            return .host(
                origin: hostWait.origin, status: hostWait.status, message: hostWait.message,
                remaining: hostWait.remaining)
        }
        switch state {
        case .waiting:
            let remaining = remaining ?? .zero
            if errorCode == TransferError.Code.diskFull.rawValue {
                return .disk(errorMessage ?? "", remaining: remaining)
            }
            return .retry(remaining: remaining)
        case .claimed: return .taken(active: active)
        default: return .slot(active: active)
        }
    }

    /// - Returns: Whether the network is what it waits for.
    private func explainNetwork(
        _ explanation: inout JobExplanation, _ snapshot: NetworkSnapshot, _ now: WallTime, _ zone: LocalZone,
        _ look: (HostWays.Question) -> HostWays.Finding?
    ) -> Bool {
        let policy = NetworkPolicy(key: network)
        let words = NetworkWords(policy: policy, now: now, zone: zone)
        let judgement = judgement(policy, snapshot, now, zone)
        // This machine is there whatever becomes of the network; a schedule holds for it, too.
        if reach.host == nil, !judgement.isOutsideSchedule { return false }
        if isNearby(judgement, policy, snapshot, now, zone, look) { return false }
        guard let reason = networkReason(words, judgement) else { return false }
        if case .wait(.closed) = judgement.decision {
            explanation.reason = .schedule(reason)
        } else {
            explanation.reason = .network(reason)
        }
        explanation.waited = networkWait.map { .milliseconds(max(0, now.milliseconds - $0.since.milliseconds)) }
        explanation.rules = judgement.rules.map { key in
            let place = source.flatMap { file in places[key].map { "\(file):\($0.line):\($0.column)" } }
            return JobExplanation.Rule(text: words.rule(key), place: place)
        }
        explanation.links = judgement.verdicts.map {
            JobExplanation.Link(name: $0.link.name, verdict: words.verdict($0))
        }
        explanation.starts = words.starts(judgement)
        return true
    }

    /// The machine that the job is connected to first, as far as it says so itself.
    private var reach: OriginReach {
        guard let own = spec.settings.proxy else { return OriginReach(origin: origin) }
        let exceptions = ProxyRule.list(own.noProxy ?? "")
        return OriginReach(origin: origin, proxies: ProxyRule(http: own.url, https: own.url, exceptions: exceptions))
    }

    /// Whether the job needs no way out.
    private func isNearby(
        _ judgement: NetworkJudgement, _ policy: NetworkPolicy, _ snapshot: NetworkSnapshot, _ now: WallTime,
        _ zone: LocalZone, _ look: (HostWays.Question) -> HostWays.Finding?
    ) -> Bool {
        guard case .wait(let wait) = judgement.decision, wait.isForWayOut, let host = reach.host else { return false }
        switch look(HostWays.Question(host: host, link: policy.require?.exactName)) {
        case .routes(let links):
            let rules = NetworkRules(policy: policy, now: now, zone: zone, usage: usage)
            return rules.admits(links, snapshot, views(snapshot))
        case .unknownName: return wait == .offline
        case .unanswered, nil: return false
        }
    }

    private func views(_ snapshot: NetworkSnapshot) -> [LinkView] {
        LinkView.views(snapshot).map { view in
            var view = view
            view.suspicion = silentLinks[view.name]
            return view
        }
    }

    private func judgement(
        _ policy: NetworkPolicy, _ snapshot: NetworkSnapshot, _ now: WallTime, _ zone: LocalZone
    ) -> NetworkJudgement {
        let waited = networkWait.map { Duration.milliseconds(max(0, now.milliseconds - $0.since.milliseconds)) }
        return NetworkRules(policy: policy, now: now, zone: zone, usage: usage, waited: waited ?? .zero)
            .judge(snapshot.isKnown ? views(snapshot) : nil).relented
    }

    /// The process that runs the batch knows best; where it says nothing, this machine's network is looked at.
    private func networkReason(_ words: NetworkWords, _ judgement: NetworkJudgement) -> String? {
        let own = words.reason(judgement)
        if let networkWait { return own ?? networkWait.reason }
        return own ?? (active == 0 ? batchWait : nil)
    }
}
