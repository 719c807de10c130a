import TransferCore
import TransferEngine
package import TransferJobs
package import TransferReachability
package import TransferScheduling

extension JobFacts {
    /// Explains the job by its facts and the present state of the network.
    ///
    /// - Parameter look: Finds whether a host can be reached without a way out of the local network; called only where
    ///   that decides. It returns `nil` where that cannot be found out.
    package func explanation(
        _ snapshot: NetworkSnapshot, now: WallTime, zone: LocalZone,
        look: (HostWays.Question) -> HostWays.Finding? = { _ in nil }
    ) -> JobExplanation {
        var explanation = JobExplanation(
            batch: batch, job: identity, state: state, isUpload: spec.isUpload, reason: .stopped,
            attempts: attempts.count,
            attemptLimit: ((spec.settings.retry.limit ?? 10) + 1) * (spec.isUpload ? 1 : max(1, spec.urls.count)),
            pid: run?.pid, source: source)
        explanation.congestion = sources.lazy.compactMap(\.congestion).first
        explanation.route = JobRoute(spec)
        if state.hasEnded { explanation.finalURL = attempts.finalURL }
        let sources = sources.filter { $0.congestion == nil }
        explanation.sources = sources
        if !sources.isEmpty, state != .done {
            let asked = Set(sources.map(\.url))
            explanation.sources += (spec.copySource?.download.urls ?? spec.urls).map { Redaction.url($0) }.filter {
                !asked.contains($0)
            }
            .map { JobSource(url: $0, connections: 0, state: .unasked) }
        }
        if !state.hasEnded, let record = self.upload, record.state != nil, case .upload(let upload) = spec.work {
            explanation.sent = JobExplanation.Sent(
                bytes: record.confirmed, total: record.size, uploadProtocol: upload.uploadProtocol.rawValue)
        }
        switch state {
        case .done:
            explanation.reason = .done(path: attempts.path ?? "")
            explanation.settles = attempts.settles
        case .failed:
            // Only the process that watches the folder tries again.
            let again = run == nil ? nil : remaining
            explanation.reason = .failed(
                code: attempts.errorCode ?? "", message: attempts.errorMessage ?? "", host: attempts.host, again: again)
        case .skipped: explanation.reason = .skipped(attempts.errorMessage ?? "")
        case .cancelled: explanation.reason = .cancelled
        case .paused: explanation.reason = .paused
        case .blocked: explanation.reason = .needs(needs)
        case .queued, .claimed, .waiting:
            if let lack, state != .claimed {
                explanation.reason = .worker(lack)
                break
            }
            guard let run else { break }
            // A job under way waits neither for the network nor for a pause that others wait for.
            if state == .claimed, run.isUnderWay {
                explanation.reason = .running(active: run.active)
                break
            }
            if explainNetwork(&explanation, run, snapshot, now, zone, look) { break }
            explanation.reason = turn(run)
            if case .retry = explanation.reason { explanation.lastError = attempts.errorMessage }
        }
        return explanation
    }

    /// Returns the reason of a wait that is not for the network.
    private func turn(_ run: Run) -> JobExplanation.Reason {
        if let pause, pause.remaining > .zero {
            return .host(
                origin: pause.proxy ?? pause.origin, status: pause.status, message: pause.message,
                remaining: pause.remaining)
        }
        // While its origin is paused, one job tries for all jobs of it. A job that was tried itself may have to wait
        // for longer.
        if let hostWait = run.hostWait, state != .waiting || hostWait.remaining >= remaining ?? .zero {
            return .host(
                origin: hostWait.origin, status: hostWait.status, message: hostWait.message,
                remaining: hostWait.remaining)
        }
        switch state {
        case .waiting:
            let remaining = remaining ?? .zero
            if attempts.errorCode == TransferError.Code.diskFull.rawValue {
                return .disk(attempts.errorMessage ?? "", remaining: remaining)
            }
            return .retry(remaining: remaining)
        case .claimed: return .taken(active: run.active)
        default: return .slot(active: run.active)
        }
    }

    /// - Returns: Whether the job waits for the network.
    private func explainNetwork(
        _ explanation: inout JobExplanation, _ run: Run, _ snapshot: NetworkSnapshot, _ now: WallTime,
        _ zone: LocalZone,
        _ look: (HostWays.Question) -> HostWays.Finding?
    ) -> Bool {
        let policy = NetworkPolicy(key: network)
        let words = NetworkText(policy: policy, now: now, zone: zone)
        let waited = run.networkWait.map { Duration.milliseconds(max(0, now.milliseconds - $0.since.milliseconds)) }
        let judgement = judgement(policy, waited, snapshot, now, zone)
        // A host on this machine can be reached whatever the state of the network; a schedule holds for it, too.
        if reach.host == nil, !judgement.isOutsideSchedule { return false }
        if isNearby(judgement, policy, snapshot, now, zone, look) { return false }
        guard let reason = networkReason(words, judgement, run) else { return false }
        if case .wait(.closed) = judgement.decision {
            explanation.reason = .schedule(reason)
        } else {
            explanation.reason = .network(reason)
        }
        explanation.waited = waited
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

    /// The host that the job connects to first, to the extent that the job itself names it.
    private var reach: OriginReach {
        guard let own = spec.settings.proxy, !own.isOfEnvironment else { return OriginReach(origin: origin) }
        let exceptions = ProxyRule.list(own.noProxy ?? "")
        return OriginReach(origin: origin, proxies: ProxyRule(http: own.url, https: own.url, exceptions: exceptions))
    }

    /// Returns whether the job needs no way out of the local network.
    private func isNearby(
        _ judgement: NetworkJudgement, _ policy: NetworkPolicy, _ snapshot: NetworkSnapshot, _ now: WallTime,
        _ zone: LocalZone, _ look: (HostWays.Question) -> HostWays.Finding?
    ) -> Bool {
        guard case .wait(let wait) = judgement.decision, wait.isForWayOut, let host = reach.host else { return false }
        switch look(HostWays.Question(host: host, link: policy.require?.exactName)) {
        case .routes(let links):
            let rules = NetworkRules(policy: policy, now: now, zone: zone, usage: self.links.usage)
            return rules.admits(links, snapshot, views(snapshot))
        case .unknownName: return wait == .offline
        case .unanswered, nil: return false
        }
    }

    private func views(_ snapshot: NetworkSnapshot) -> [LinkView] {
        LinkView.views(snapshot).map { view in
            var view = view
            view.suspicion = links.silent[view.name]
            return view
        }
    }

    private func judgement(
        _ policy: NetworkPolicy, _ waited: Duration?, _ snapshot: NetworkSnapshot, _ now: WallTime, _ zone: LocalZone
    ) -> NetworkJudgement {
        NetworkRules(policy: policy, now: now, zone: zone, usage: links.usage, waited: waited ?? .zero)
            .judge(snapshot.isKnown ? views(snapshot) : nil).relented
    }

    /// Returns the reason that the process which runs the batch reports. Where it reports none, this machine's network
    /// is judged.
    private func networkReason(_ words: NetworkText, _ judgement: NetworkJudgement, _ run: Run) -> String? {
        let own = words.reason(judgement)
        if let wait = run.networkWait { return own ?? wait.reason }
        return own ?? (run.active == 0 ? run.batchWait : nil)
    }
}
