import TransferCore

/// Whether an origin is spoken to: it's open until it shows that it can't be reached or wants to be left alone, then
/// nothing goes there for a while, then one job tries.
///
/// So a dead server costs a batch one job's attempts at a time, not every job's budget.
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
        let pauses: Int
    }

    private(set) var state = State.open(failures: 0)
    /// The most attempts that any job allows which failed here: one impatient job is no reason to give up for all.
    private(set) var patienceSeen = 0

    init() {}

    init(pausedUntil: MonotonicTime, _ error: TransferError) {
        state = .paused(until: pausedUntil, Reason(error: error, pauses: 0))
    }

    /// As many jobs in a row must fail to reach the origin before it's paused; one may be bad luck.
    static let patience = 3

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

    /// Whether this job may start now.
    mutating func ask(_ job: Int64, now: MonotonicTime) -> Permission {
        switch state {
        case .open: return .start
        case .paused(let until, let reason):
            guard until <= now else { return .wait(until: until) }
            state = .probing(job: job, reason)
            return .start
        case .probing: return .wait(until: nil)
        case .dead(let error): return .refuse(error)
        }
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
    ///   - random: A number in 0..<1.
    mutating func failed(
        _ job: Int64, _ error: TransferError, rule: RetryRule, patience: Int = 0, random: Double, now: MonotonicTime
    ) {
        patienceSeen = max(patienceSeen, rule.limit, patience)
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
            guard reason.pauses + 1 < patienceSeen else {
                state = .dead(error)
                return
            }
            pause(Reason(error: error, pauses: reason.pauses + 1), rule, random, now)
        }
    }

    /// The probing job went away without an answer (cancelled, paused).
    mutating func abandoned(_ job: Int64, now: MonotonicTime) {
        if case .probing(job, let reason) = state { state = .paused(until: now, reason) }
    }

    /// A job gave up for good because of this origin.
    mutating func exhausted(_ error: TransferError) {
        switch state {
        case .paused, .probing: state = .dead(error)
        case .open, .dead: break
        }
    }

    private mutating func pause(_ reason: Reason, _ rule: RetryRule, _ random: Double, _ now: MonotonicTime) {
        let length = rule.delay(retriesSpent: reason.pauses, retryAfter: reason.error.retryAfter, random: random)
        state = .paused(until: now + length, reason)
    }
}
