import TransferCore
import TransferEngine
import TransferReachability

extension JobFacts {
    /// What the facts, and the network of the moment, come to.
    func explanation(_ snapshot: NetworkSnapshot, now: WallTime, zone: LocalZone) -> JobExplanation {
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
            let again = pid == nil ? nil : notBefore.map { Duration.milliseconds(max(0, $0 - now.milliseconds)) }
            explanation.reason = .failed(code: errorCode ?? "", message: errorMessage ?? "", host: host, again: again)
        case .skipped: explanation.reason = .skipped(errorMessage ?? "")
        case .cancelled: explanation.reason = .cancelled
        case .paused: explanation.reason = .paused
        case .blocked: explanation.reason = .needs(needs)
        case .queued, .claimed, .waiting:
            guard pid != nil else { break }
            if explainNetwork(&explanation, snapshot, now, zone) { break }
            explanation.reason = turn(now)
            if case .retry = explanation.reason { explanation.lastError = errorMessage }
        }
        return explanation
    }

    /// What is left when the network isn't the reason.
    private func turn(_ now: WallTime) -> JobExplanation.Reason {
        if let pause, pause.until > now.milliseconds {
            return .host(
                origin: pause.origin, status: pause.status, message: pause.message,
                remaining: .milliseconds(pause.until - now.milliseconds))
        }
        switch state {
        case .waiting:
            let remaining = Duration.milliseconds(max(0, (notBefore ?? 0) - now.milliseconds))
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
        _ explanation: inout JobExplanation, _ snapshot: NetworkSnapshot, _ now: WallTime, _ zone: LocalZone
    ) -> Bool {
        let reach = OriginReach(origin: origin)
        guard reach != .local else { return false }
        let policy = NetworkPolicy(key: network)
        let words = NetworkWords(policy: policy, now: now, zone: zone)
        let judgement = judgement(policy, snapshot, now, zone)
        guard let reason = networkReason(words, judgement, reach) else { return false }
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

    private func judgement(
        _ policy: NetworkPolicy, _ snapshot: NetworkSnapshot, _ now: WallTime, _ zone: LocalZone
    ) -> NetworkJudgement {
        let views = LinkView.views(snapshot).map { view in
            var view = view
            view.suspicion = silentLinks[view.name]
            return view
        }
        let waited = networkWait.map { Duration.milliseconds(max(0, now.milliseconds - $0.since.milliseconds)) }
        return NetworkRules(policy: policy, now: now, zone: zone, usage: usage, waited: waited ?? .zero)
            .judge(snapshot.isKnown ? views : nil).relented
    }

    /// The process that runs the batch knows best; where it says nothing, this machine's network is looked at.
    private func networkReason(
        _ words: NetworkWords, _ judgement: NetworkJudgement, _ reach: OriginReach
    ) -> String? {
        let own = words.reason(judgement)
        if case .address = reach, case .wait(.offline) = judgement.decision {
            // It may be on a network that needs no way out: then only the process knows.
            return batchWait.map { own ?? $0 }
        }
        if let networkWait { return own ?? networkWait.reason }
        return own ?? (active == 0 ? batchWait : nil)
    }
}
