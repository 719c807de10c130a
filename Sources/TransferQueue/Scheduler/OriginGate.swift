import TransferCore

/// Whether an origin is spoken to: it's open until it shows that it can't be reached or wants to be left alone, then
/// nothing goes there for a while, then one job tries.
///
/// So a dead server costs a batch one job's attempts at a time, not every job's budget. Jobs of what has no end, such as a
/// watched folder, go on probing it for ever; the others are given up.
struct OriginGate: Sendable {
    /// `open` → `paused` → `probing` → `open` | `paused` | `dead`; `dead` stays.
    enum State: Sendable, Equatable {
        case open(failures: Int)
        case paused(until: MonotonicTime, Reason)
        case probing(job: Int64, Reason)
        /// A job used up its attempts while no other got an answer.
        case dead(TransferError)
    }

    struct Reason: Sendable, Equatable {
        let error: TransferError
        /// Pauses one after the other, without an answer between.
        var pauses: Int
        /// Jobs that have to end aren't tried here any more, until it answers.
        var isGivenUp = false
    }

    private(set) var state = State.open(failures: 0)
    /// The most attempts that any job allows which failed here: one impatient job is no reason to give up for all.
    private(set) var patienceSeen = 0
    private var hasEnding = false
    private var hasEndless = false

    init() {}

    init(pausedUntil: MonotonicTime, _ error: TransferError) {
        state = .paused(until: pausedUntil, Reason(error: error, pauses: 0))
    }

    /// As many jobs in a row must fail to reach the origin before it's paused; one may be bad luck.
    static let patience = 3

    /// How long jobs that wait go on with an origin that doesn't answer.
    struct Patience: Sendable, Hashable {
        /// The most attempts of those that have to end.
        var most = 0
        /// One of them may wait for ever.
        var isEndless = false
    }

    enum Permission: Equatable {
        case start
        case wait(until: MonotonicTime?)
        case refuse(TransferError)
    }

    /// Whether the origin itself asked for the pause.
    var isAsked: Bool {
        switch state {
        case .paused(_, let reason), .probing(_, let reason): reason.error.status != nil
        case .open, .dead: false
        }
    }

    /// Whether a job may start now.
    ///
    /// - Parameter isEndless: It may wait for ever.
    func permission(isEndless: Bool = false, now: MonotonicTime) -> Permission {
        switch state {
        case .open: .start
        case .paused(_, let reason) where reason.isGivenUp && !isEndless: .refuse(reason.error)
        case .probing(_, let reason) where reason.isGivenUp && !isEndless: .refuse(reason.error)
        case .paused(let until, _): until <= now ? .start : .wait(until: until)
        case .probing: .wait(until: nil)
        case .dead(let error): isEndless ? .start : .refuse(error)
        }
    }

    /// Whether this job may start now; after a pause it's the one that tries.
    mutating func ask(_ job: Int64, isEndless: Bool = false, now: MonotonicTime) -> Permission {
        let permission = permission(isEndless: isEndless, now: now)
        guard permission == .start else { return permission }
        switch state {
        case .paused(_, let reason): state = .probing(job: job, reason)
        case .dead(let error):
            hasEndless = true
            state = .probing(job: job, Reason(error: error, pauses: patienceSeen, isGivenUp: true))
        case .open, .probing: break
        }
        return permission
    }

    /// The origin answered.
    mutating func answered() {
        if case .dead = state { return }
        state = .open(failures: 0)
    }

    /// The job did not get an answer, or was told to come back later.
    ///
    /// - Parameters:
    ///   - rule: The job's: how long the pauses are, and after how many without an answer the origin is given up.
    ///   - patience: The same of the most patient job that waits here.
    ///   - isEndless: It's tried for ever, whatever the rule's limit is.
    ///   - random: A number in 0..<1.
    mutating func failed(
        _ job: Int64, _ error: TransferError, rule: RetryRule, patience: Patience = Patience(), isEndless: Bool = false,
        random: Double, now: MonotonicTime
    ) {
        patienceSeen = max(patienceSeen, isEndless ? 0 : rule.limit, patience.most)
        hasEnding = hasEnding || !isEndless || patience.most > 0
        hasEndless = hasEndless || isEndless || patience.isEndless
        let asked = error.retryAfter
        switch state {
        case .dead: break
        case .open(let failures):
            guard asked != nil || error.status != nil || failures + 1 >= Self.patience else {
                state = .open(failures: failures + 1)
                return
            }
            pause(Reason(error: error, pauses: 0), rule, random, now)
        case .paused(let until, let reason):
            // Transfers that were under way come to the same end; a longer wish counts.
            if let asked, now + asked > until { state = .paused(until: now + asked, reason) }
        case .probing(let probe, let reason):
            guard probe == job else { return }
            let pauses = reason.pauses + 1
            let isGivenUp = reason.isGivenUp || hasEnding && pauses >= patienceSeen
            if isGivenUp, !hasEndless {
                state = .dead(error)
            } else {
                pause(Reason(error: error, pauses: pauses, isGivenUp: isGivenUp), rule, random, now)
            }
        }
    }

    /// The probing job went away without an answer (cancelled, paused).
    mutating func abandoned(_ job: Int64, now: MonotonicTime) {
        if case .probing(job, let reason) = state { state = .paused(until: now, reason) }
    }

    /// A job gave up for good because of this origin.
    mutating func exhausted(_ error: TransferError) {
        switch state {
        case .paused(let until, var reason) where hasEndless:
            reason.isGivenUp = true
            state = .paused(until: until, reason)
        case .probing(let job, var reason) where hasEndless:
            reason.isGivenUp = true
            state = .probing(job: job, reason)
        case .paused, .probing: state = .dead(error)
        case .open, .dead: break
        }
    }

    /// Somebody wants something of it again that has to end.
    mutating func revive() {
        switch state {
        case .paused(let until, let reason) where reason.isGivenUp:
            state = .paused(until: until, Reason(error: reason.error, pauses: 0))
        case .probing(let job, let reason) where reason.isGivenUp:
            state = .probing(job: job, Reason(error: reason.error, pauses: 0))
        case .open, .paused, .probing, .dead: break
        }
    }

    private mutating func pause(_ reason: Reason, _ rule: RetryRule, _ random: Double, _ now: MonotonicTime) {
        let length = rule.delay(retriesSpent: reason.pauses, retryAfter: reason.error.retryAfter, random: random)
        state = .paused(until: now + length, reason)
    }
}
