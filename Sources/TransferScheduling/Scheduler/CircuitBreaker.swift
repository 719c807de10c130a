package import TransferCore

/// Whether an origin is spoken to: it's open until it shows that it can't be reached or wants to be left alone, then
/// nothing goes there for a while, then one job tries.
///
/// A dead server thus costs a batch one job's attempts at a time, not every job's budget. Jobs of what has no end, such
/// as a watched folder, go on probing it for ever; the others are given up.
package struct CircuitBreaker: Sendable {
    /// `open` → `paused` → `probing` → `open` | `paused` | `dead`; `dead` stays.
    package enum State: Sendable, Equatable {
        case open(failures: Int)
        case paused(until: MonotonicTime, Reason)
        case probing(job: Int64, Reason)
        /// A job used up its attempts while no other got an answer.
        case dead(TransferError)
    }

    package struct Reason: Sendable, Equatable {
        package var error: TransferError
        /// Pauses one after the other, without an answer between, that the origin didn't ask for.
        package var pauses: Int
        /// The time that the pauses took that it asked for.
        package var asked = Duration.zero
        /// The error for jobs that have to end: they aren't tried here any more, until it answers.
        package var givenUp: TransferError?
    }

    package private(set) var state = State.open(failures: 0)
    /// The patience of the jobs that failed here: one impatient job is no reason to give up for all.
    package private(set) var patience = Patience()
    /// When the origin was closed last. Jobs that were under way then and are refused later say the same once more.
    private var closed: MonotonicTime?

    package init() {}

    /// As many jobs in a row must fail to reach the origin before it's paused; one may be bad luck.
    package static let toleratedFailures = 3

    package enum Permission: Equatable {
        case start
        case wait(until: MonotonicTime?)
        case refuse(TransferError)
    }

    /// Whether the origin itself asked for the pause.
    package var isAsked: Bool {
        switch state {
        case .paused(_, let reason), .probing(_, let reason):
            reason.error.status != nil || reason.error.retryAfter != nil
        case .open, .dead: false
        }
    }

    /// The error for jobs that have to end, where the origin is given up.
    private var end: TransferError? {
        switch state {
        case .open: nil
        case .paused(_, let reason), .probing(_, let reason): reason.givenUp
        case .dead(let error): error
        }
    }

    /// Whether a job may start now.
    ///
    /// - Parameter isEndless: It may wait for ever.
    package func permission(isEndless: Bool = false, now: MonotonicTime) -> Permission {
        if let end, !isEndless { return .refuse(end) }
        switch state {
        case .open, .dead: return .start
        case .paused(let until, _): return until <= now ? .start : .wait(until: until)
        case .probing: return .wait(until: nil)
        }
    }

    /// Whether this job may start now; after a pause it's the one that tries.
    package mutating func ask(_ job: Int64, isEndless: Bool = false, now: MonotonicTime) -> Permission {
        let permission = permission(isEndless: isEndless, now: now)
        guard permission == .start else { return permission }
        switch state {
        case .paused(_, let reason): state = .probing(job: job, reason)
        case .dead(let error):
            patience.isEndless = true
            state = .probing(
                job: job, Reason(error: error, pauses: patience.ending?.retries ?? 0, givenUp: error))
        case .open, .probing: break
        }
        return permission
    }

    /// Whether a job that began then was under way when the origin was closed.
    package func wasUnderWay(_ since: MonotonicTime) -> Bool { closed.map { since < $0 } ?? false }

    /// The origin answered.
    package mutating func answered() {
        if case .dead = state { return }
        state = .open(failures: 0)
    }

    /// The job did not get an answer, or was told to come back later.
    ///
    /// - Parameters:
    ///   - rule: The job's: how long the pauses are, and after how many without an answer, or after which time where the
    ///     origin asks for them, it's given up.
    ///   - patience: The same of those that wait here.
    ///   - isEndless: It's tried for ever, whatever the rule's limits are.
    ///   - since: When the job began.
    ///   - hasOthers: Other jobs of ours are under way there.
    ///   - random: A number in 0..<1.
    package mutating func failed(
        _ job: Int64, _ error: TransferError, rule: RetryRule, patience: Patience = Patience(), isEndless: Bool = false,
        since: MonotonicTime? = nil, hasOthers: Bool = false, random: Double, now: MonotonicTime
    ) {
        self.patience.add(RetryHorizon(rule), isEndless: isEndless)
        self.patience.widen(patience)
        let asked = error.retryAfter
        switch state {
        case .dead: break
        // A refusal together with others has been counted with theirs, also where one was answered meanwhile.
        case .open where asked == nil && since.map(wasUnderWay) == true: break
        case .open(let failures):
            guard asked != nil || error.status != nil || failures + 1 >= Self.toleratedFailures else {
                state = .open(failures: failures + 1)
                return
            }
            pause(Reason(error: error, pauses: 0), rule, random, now)
        case .paused(let until, var reason):
            // Transfers that were under way come to the same end; a longer wish counts.
            guard let asked else { return }
            let left = left(reason, rule)
            let end = now + min(asked, left)
            guard end > until else { return }
            if asked > left { reason.error = error.bounded(to: left) }
            reason.asked += end - until
            state = .paused(until: end, reason)
        case .probing(let probe, let reason):
            guard probe == job else { return }
            var next = Reason(error: error, pauses: reason.pauses, asked: reason.asked, givenUp: reason.givenUp)
            // A pause that was asked for is no failure: the first one after it is the first.
            if asked == nil, reason.error.retryAfter == nil { next.pauses += 1 }
            // A server that is busy with others of ours isn't gone.
            let isBusy = hasOthers && error.status != nil
            if next.givenUp == nil, !isBusy { next.givenUp = exhaustion(after: next) }
            if let end = next.givenUp, !self.patience.isEndless {
                state = .dead(end)
            } else {
                pause(next, rule, random, now)
            }
        }
    }

    /// The origin asked another process to leave it alone.
    package mutating func spare(until end: MonotonicTime, _ error: TransferError) {
        switch state {
        case .open: state = .paused(until: end, Reason(error: error, pauses: 0))
        case .paused(let until, let reason):
            if until < end { state = .paused(until: end, reason) }
        // The job that tries hears it for itself.
        case .probing, .dead: break
        }
    }

    /// The probing job went away without an answer (cancelled, paused).
    package mutating func abandoned(_ job: Int64, now: MonotonicTime) {
        if case .probing(job, let reason) = state { state = .paused(until: now, reason) }
    }

    /// A job gave up for good because of this origin.
    package mutating func exhausted(_ error: TransferError) {
        switch state {
        case .paused(let until, var reason) where patience.isEndless:
            reason.givenUp = error
            state = .paused(until: until, reason)
        case .probing(let job, var reason) where patience.isEndless:
            reason.givenUp = error
            state = .probing(job: job, reason)
        case .paused, .probing: state = .dead(error)
        case .open, .dead: break
        }
    }

    /// Somebody wants something of it again that has to end.
    package mutating func revive() {
        switch state {
        case .paused(let until, let reason) where reason.givenUp != nil:
            state = .paused(until: until, Reason(error: reason.error, pauses: 0))
        case .probing(let job, let reason) where reason.givenUp != nil:
            state = .probing(job: job, Reason(error: reason.error, pauses: 0))
        case .open, .paused, .probing, .dead: break
        }
    }

    private mutating func pause(_ reason: Reason, _ rule: RetryRule, _ random: Double, _ now: MonotonicTime) {
        closed = now
        guard let asked = reason.error.retryAfter else {
            let length = rule.delay(retriesSpent: reason.pauses, retryAfter: nil, random: random)
            state = .paused(until: now + length, reason)
            return
        }
        var reason = reason
        let left = left(reason, rule)
        // Nobody bears any wait: then those that have to end give up by themselves.
        let most = left > .zero ? left : rule.longestWait
        let length = rule.wait(asked: asked, waited: reason.asked, atMost: most, random: random)
        reason.error = reason.error.bounded(to: most)
        reason.asked += length
        state = .paused(until: now + length, reason)
    }

    /// The error for jobs that have to end after this, where it's more than the most patient of them bears.
    private func exhaustion(after reason: Reason) -> TransferError? {
        guard let most = patience.ending else { return nil }
        if reason.error.retryAfter != nil {
            return reason.asked >= most.wait ? reason.error.waitedTooLong(most.wait) : nil
        }
        return reason.pauses >= most.retries ? reason.error : nil
    }

    /// The rest of the time for pauses that the origin asks for; jobs without an end bear as much each time.
    private func left(_ reason: Reason, _ rule: RetryRule) -> Duration {
        guard let most = patience.ending, reason.givenUp == nil else { return rule.longestWait }
        return max(.zero, most.wait - reason.asked)
    }
}
