package import TransferCore

/// The circuit breaker of an origin. It is closed until the origin proves unreachable or asks for a pause. Then no job
/// goes there for a while, and afterwards one job tries.
///
/// A dead server thus costs a batch the attempts of one job at a time, not those of every job. Jobs of endless batches,
/// such as watched folders, continue to probe it for ever; other jobs are given up.
package struct CircuitBreaker: Sendable {
    /// The state of a breaker: `closed` → `open` → `halfOpen` → `closed` | `open` | `exhausted`; `exhausted` is final.
    package enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: MonotonicTime, Reason)
        case halfOpen(job: Int64, Reason)
        /// A job used up its attempts while no other job got an answer.
        case exhausted(TransferError)
    }

    package struct Reason: Sendable, Equatable {
        package var error: TransferError
        /// The number of pauses in a row, without an answer between them, that the origin did not request.
        package var pauses: Int
        /// The total time of the pauses that the origin requested.
        package var asked = Duration.zero
        /// The error for jobs that must end, which are not tried here until the origin answers.
        package var givenUp: TransferError?
    }

    package private(set) var state = State.closed(failures: 0)
    /// The patience of the jobs that failed here. One impatient job is no reason to give up for all.
    package private(set) var patience = Patience()
    /// The time when the breaker last opened. A later refusal of a job that was under way then is no news.
    private var openedAt: MonotonicTime?

    package init() {}

    /// The number of jobs in a row that must fail to reach the origin before it is paused, since one may be chance.
    package static let toleratedFailures = 3

    package enum Permission: Equatable {
        case start
        case wait(until: MonotonicTime?)
        case refuse(TransferError)
    }

    /// Whether the origin itself requested the pause.
    package var isAsked: Bool {
        switch state {
        case .open(_, let reason), .halfOpen(_, let reason):
            reason.error.status != nil || reason.error.retryAfter != nil
        case .closed, .exhausted: false
        }
    }

    /// The error for jobs that must end, if the origin is given up.
    private var end: TransferError? {
        switch state {
        case .closed: nil
        case .open(_, let reason), .halfOpen(_, let reason): reason.givenUp
        case .exhausted(let error): error
        }
    }

    /// Returns whether a job may start now.
    ///
    /// - Parameter isEndless: Whether the job may wait for ever.
    package func permission(isEndless: Bool = false, now: MonotonicTime) -> Permission {
        if let end, !isEndless { return .refuse(end) }
        switch state {
        case .closed, .exhausted: return .start
        case .open(let until, _): return until <= now ? .start : .wait(until: until)
        case .halfOpen: return .wait(until: nil)
        }
    }

    /// Returns whether this job may start now; after a pause, it becomes the probe.
    package mutating func ask(_ job: Int64, isEndless: Bool = false, now: MonotonicTime) -> Permission {
        let permission = permission(isEndless: isEndless, now: now)
        guard permission == .start else { return permission }
        switch state {
        case .open(_, let reason): state = .halfOpen(job: job, reason)
        case .exhausted(let error):
            patience.isEndless = true
            state = .halfOpen(
                job: job, Reason(error: error, pauses: patience.ending?.retries ?? 0, givenUp: error))
        case .closed, .halfOpen: break
        }
        return permission
    }

    /// Returns whether a job that began at this time was under way when the origin was closed.
    package func wasUnderWay(_ since: MonotonicTime) -> Bool { openedAt.map { since < $0 } ?? false }

    /// Notes that the origin answered.
    package mutating func answered() {
        if case .exhausted = state { return }
        state = .closed(failures: 0)
    }

    /// Notes that a job got no answer, or was asked to return later.
    ///
    /// - Parameters:
    ///   - rule: The job's retry rule: the length of pauses, and the number of them, or their total time if the origin
    ///     requests them, before giving up.
    ///   - patience: The patience of the jobs that wait here.
    ///   - isEndless: Whether the job is tried for ever, whatever the rule's limits are.
    ///   - since: The time when the job began.
    ///   - hasOthers: Whether other jobs of this process are under way there.
    ///   - random: A number in 0..<1.
    package mutating func failed(
        _ job: Int64, _ error: TransferError, rule: RetryRule, patience: Patience = Patience(), isEndless: Bool = false,
        since: MonotonicTime? = nil, hasOthers: Bool = false, random: Double, now: MonotonicTime
    ) {
        self.patience.add(RetryHorizon(rule), isEndless: isEndless)
        self.patience.widen(patience)
        let asked = error.retryAfter
        switch state {
        case .exhausted: break
        // A refusal together with others was counted with theirs, even if one job was answered meanwhile.
        case .closed where asked == nil && since.map(wasUnderWay) == true: break
        case .closed(let failures):
            guard asked != nil || error.status != nil || failures + 1 >= Self.toleratedFailures else {
                state = .closed(failures: failures + 1)
                return
            }
            pause(Reason(error: error, pauses: 0), rule, random, now)
        case .open(let until, var reason):
            // Transfers that were under way fail likewise; only a longer requested wait counts.
            guard let asked else { return }
            let left = left(reason, rule)
            let end = now + min(asked, left)
            guard end > until else { return }
            if asked > left { reason.error = error.bounded(to: left) }
            reason.asked += end - until
            state = .open(until: end, reason)
        case .halfOpen(let probe, let reason):
            guard probe == job else { return }
            var next = Reason(error: error, pauses: reason.pauses, asked: reason.asked, givenUp: reason.givenUp)
            // A requested pause is no failure, so the first unrequested pause after it counts as the first.
            if asked == nil, reason.error.retryAfter == nil { next.pauses += 1 }
            // A server that is busy with other jobs of this process is not gone.
            let isBusy = hasOthers && error.status != nil
            if next.givenUp == nil, !isBusy { next.givenUp = exhaustion(after: next) }
            if let end = next.givenUp, !self.patience.isEndless {
                state = .exhausted(end)
            } else {
                pause(next, rule, random, now)
            }
        }
    }

    /// Pauses the origin because it asked another process for it.
    package mutating func spare(until end: MonotonicTime, _ error: TransferError) {
        switch state {
        case .closed: state = .open(until: end, Reason(error: error, pauses: 0))
        case .open(let until, let reason):
            if until < end { state = .open(until: end, reason) }
        // The probing job will receive the request itself.
        case .halfOpen, .exhausted: break
        }
    }

    /// Notes that the probing job left without an answer (cancelled or paused).
    package mutating func abandoned(_ job: Int64, now: MonotonicTime) {
        if case .halfOpen(job, let reason) = state { state = .open(until: now, reason) }
    }

    /// Notes that a job gave up for good because of this origin.
    package mutating func exhausted(_ error: TransferError) {
        switch state {
        case .open(let until, var reason) where patience.isEndless:
            reason.givenUp = error
            state = .open(until: until, reason)
        case .halfOpen(let job, var reason) where patience.isEndless:
            reason.givenUp = error
            state = .halfOpen(job: job, reason)
        case .open, .halfOpen: state = .exhausted(error)
        case .closed, .exhausted: break
        }
    }

    /// Gives the origin another chance, because a job that must end wants it again.
    package mutating func revive() {
        switch state {
        case .open(let until, let reason) where reason.givenUp != nil:
            state = .open(until: until, Reason(error: reason.error, pauses: 0))
        case .halfOpen(let job, let reason) where reason.givenUp != nil:
            state = .halfOpen(job: job, Reason(error: reason.error, pauses: 0))
        case .closed, .open, .halfOpen, .exhausted: break
        }
    }

    private mutating func pause(_ reason: Reason, _ rule: RetryRule, _ random: Double, _ now: MonotonicTime) {
        openedAt = now
        guard let asked = reason.error.retryAfter else {
            let length = rule.delay(retriesSpent: reason.pauses, retryAfter: nil, random: random)
            state = .open(until: now + length, reason)
            return
        }
        var reason = reason
        let left = left(reason, rule)
        // If no job accepts any wait, those that must end give up at their own limits.
        let most = left > .zero ? left : rule.longestWait
        let length = rule.wait(asked: asked, waited: reason.asked, atMost: most, random: random)
        reason.error = reason.error.bounded(to: most)
        reason.asked += length
        state = .open(until: now + length, reason)
    }

    /// Returns the error for jobs that must end, if the most patient of them has reached its limit.
    private func exhaustion(after reason: Reason) -> TransferError? {
        guard let most = patience.ending else { return nil }
        if reason.error.retryAfter != nil {
            return reason.asked >= most.wait ? reason.error.waitedTooLong(most.wait) : nil
        }
        return reason.pauses >= most.retries ? reason.error : nil
    }

    /// Returns the remaining time for requested pauses; endless jobs accept the full time for each pause.
    private func left(_ reason: Reason, _ rule: RetryRule) -> Duration {
        guard let most = patience.ending, reason.givenUp == nil else { return rule.longestWait }
        return max(.zero, most.wait - reason.asked)
    }
}
