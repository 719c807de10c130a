import Glibc
import TransferCore
import TransferJobs
import TransferScheduling

/// An attempt that came to nothing, and what follows from it by the job's rules. Pure: the runner tells it what it's
/// asked, and does what it answers.
struct FailedAttempt {
    /// The job with what it has spent before this attempt.
    private(set) var record: JobRecord
    var error: TransferError
    /// Whether a body has left that may have been taken.
    let bodyLeft: Bool
    /// Whether the answer's body had begun.
    let hadBegun: Bool
    /// Whether something of an answer had come.
    let wasAnswered: Bool
    /// Whether its origin has refused others that were under way with it: a refusal says nothing new then.
    var repeatsOthers = false

    /// - Parameter isPreparing: Whether no request of it had been made.
    init(
        of record: JobRecord, _ error: TransferError, bodyLeft: Bool, isPreparing: Bool = false, hadBegun: Bool = false,
        wasAnswered: Bool = false
    ) {
        self.record = record
        self.error = error
        self.bodyLeft = bodyLeft
        self.hadBegun = hadBegun
        self.wasAnswered = wasAnswered
        // A file in a watched folder may become readable a little later than it appears.
        if record.watched != nil, isPreparing, [EACCES, EPERM].contains(error.errno) { self.error.isTransient = true }
        if error.code == .sourceChanged, record.spec.failsIfChanged { self.error.isTransient = false }
    }

    /// Whether the file in the watched folder is another version: nothing is wrong with that.
    var isReplaced: Bool { record.watched != nil && error.code == .sourceChanged }

    /// Whether the job may begin again without an attempt spent, where this machine is the reason.
    var mayRepeat: Bool { !(bodyLeft && record.spec.mustNotRepeat) }

    /// The reason in words, if the server's certificate isn't valid yet by this machine's clock: nobody may have set it.
    var clockFault: String? {
        guard error.cause == .certificate(Self.notYetValid) else { return nil }
        return "this machine's clock isn't set, and by it the server's certificate isn't valid yet"
    }

    /// `X509_V_ERR_CERT_NOT_YET_VALID` (X509_STORE_CTX_get_error(3)).
    private static let notYetValid: Int32 = 9

    /// The attempt came further than any before it, so that the count begins anew. A full disk that takes some bytes each time would be tried for ever.
    mutating func countAnew() {
        if !error.isFullDisk { (record.attempts, record.askedWait) = (0, .zero) }
    }

    // MARK: The origin's part

    /// The part that the job's origin has in the failure.
    enum OriginFinding: Equatable {
        /// The origin is to blame.
        case failed
        case answered
        /// Nothing.
        case none
    }

    /// Whether the origin says that it takes fewer connections than it was given.
    var isCrowded: Bool { error.code == .tooManyConnections }

    /// Whether the origin refused it together with others: that is counted once, for the first of them.
    var isCounted: Bool { repeatsOthers && error.status != nil && error.scope == .origin }

    /// Whether the origin refuses as many transfers as it was given, or loses their connections.
    var refusal: ConcurrencyBackoff.Refusal? {
        ConcurrencyBackoff.Refusal(error, hadBegun: hadBegun || wasAnswered || bodyLeft)
    }

    /// - Parameters:
    ///   - origin: The job's lane names it.
    ///   - isEndless: Whether the job is tried for ever where its origin is the reason.
    func news(of origin: String, isEndless: Bool) -> OriginFinding {
        if error.scope == .origin || isSilent(origin, isEndless) { return .failed }
        return error.status != nil || hadBegun || error.code == .connectionLost ? .answered : .none
    }

    /// Whether the origin ended the connection without a byte of an answer, as what stands in front of a dead one does.
    /// One file may be the reason; several in a row aren't. A folder has time to find that out, other batches have to
    /// end.
    private func isSilent(_ origin: String, _ isEndless: Bool) -> Bool {
        isEndless && !wasAnswered && error.status == nil
            && (error.code == .connectionLost || error.code == .secureConnectionFailed) && origin.hasPrefix("http")
    }

    // MARK: What follows

    /// The future of the job.
    enum Verdict {
        /// Another attempt, by a record that says what is spent, and at which mirror.
        case again(JobRecord, after: Duration, because: TransferError)
        /// The job has failed for good.
        ///
        /// - Parameter isOurs: Whether the fault is this machine's, so that no host is to blame.
        case over(TransferError, attempts: Int, isOurs: Bool)
    }

    private var rule: RetryRule { record.spec.settings.retry.rule }

    /// A server's own wish, bounded to what the job has left of its patience.
    mutating func boundWait() { error = error.bounded(to: rule.longestWait - record.askedWait) }

    /// - Parameters:
    ///   - isEndless: Whether the job is tried for ever where its origin is the reason.
    ///   - isHeld: Whether it waits behind its origin's pause anyway.
    ///   - random: A number from 0 up to 1, for each delay.
    /// - Returns: With the error by which the origin is given up, where its patience is at an end.
    func verdict(
        isEndless: Bool, isHeld: Bool, random: () -> Double
    ) -> (verdict: Verdict, exhaustion: TransferError?) {
        var record = record
        let mirrors = record.spec.isUpload ? 1 : record.spec.urls.count
        // Every mirror gets its turn before the delay grows.
        let spent = record.attempts / mirrors
        let isFree = isCounted && rule.limit > 0
        let decision = rule.decide(
            error, method: record.upload?.knowsTheWay == true ? "PUT" : record.spec.methodOfRetries,
            retriesSpent: isFree ? min(spent, rule.limit - 1) : spent, bodyLeft: bodyLeft, waited: record.askedWait,
            random: random())
        switch decision {
        case .wait(let delay):
            guard let mirror = record.nextMirror(of: mirrors) else { return (over(record, error), nil) }
            // The others needn't wait for what one of them asks.
            let isNewRound = mirror <= record.mirror
            let delay = isNewRound && !isHeld ? delay : .zero
            record.mirror = mirror
            record.askedWait += delay
            return (.again(record, after: delay, because: error), nil)
        case .retry(let delay):
            if !isFree { record.attempts += 1 }
            let isNewRound = record.attempts % mirrors == 0
            guard let mirror = record.nextMirror(of: mirrors) else { return (over(record, error), nil) }
            record.mirror = mirror
            return (.again(record, after: isNewRound && !isHeld ? delay : .zero, because: error), nil)
        case .giveUp(let reason):
            let isSpent = reason == .limitReached || reason == .waitLimitReached
            if isSpent, error.scope == .origin, isEndless {
                return (probeForEver(isHeld, random), nil)
            }
            let error = reason == .waitLimitReached ? error.waitedTooLong(rule.longestWait) : error
            let exhaustion = isSpent && error.scope == .origin && !isCounted ? error : nil
            return (elsewhere(record, error, mirrors, isUnrepeatable: reason == .methodNotRepeatable), exhaustion)
        }
    }

    /// Nothing is wrong with the file: its origin is probed for ever.
    private func probeForEver(_ isHeld: Bool, _ random: () -> Double) -> Verdict {
        var record = record
        let error = error.bounded(to: rule.longestWait)
        let delay = rule.delay(retriesSpent: record.attempts, retryAfter: error.retryAfter, random: random())
        record.attempts += 1
        return .again(record, after: isHeld ? .zero : delay, because: error)
    }

    /// The URL is given up. What is this machine's fault is no mirror's.
    private func elsewhere(
        _ given: JobRecord, _ error: TransferError, _ mirrors: Int, isUnrepeatable: Bool
    ) -> Verdict {
        var record = given
        let isOurs = error.errno != nil || error.code == .secretMissing
        record.spendMirror()
        if !isOurs, let mirror = record.nextMirror(of: mirrors) {
            record.mirror = mirror
            // The next one is asked in an attempt of its own.
            record.attempts += 1
            return .again(record, after: .zero, because: error)
        }
        // The answer to an upload is its receipt: one that broke off is none. A download's has brought what it was for.
        let isUnknown =
            isUnrepeatable && DeliveryRule.mayHaveBeenTaken(error) && (record.spec.isUpload || !hadBegun)
        return over(record, isUnknown ? .unanswered(error, method: record.spec.method) : error)
    }

    private func over(_ record: JobRecord, _ error: TransferError) -> Verdict {
        let isOurs = error.errno != nil || error.code == .secretMissing || error.code == .sourceChanged
        return .over(error, attempts: record.attempts + 1, isOurs: isOurs)
    }
}

extension JobRecord {
    /// The next URL that hasn't failed for good.
    func nextMirror(of count: Int) -> Int? {
        (1...count).lazy.map { (mirror + $0) % count }.first { !hasSpent($0) }
    }

    /// Whether it's in its first round through its mirrors, and this one isn't the last of them.
    var hasFurtherMirrors: Bool {
        !spec.isUpload && spec.urls.count > 1 && attempts < spec.urls.count - 1
            && nextMirror(of: spec.urls.count).map { $0 != mirror } == true
    }

    /// The URL that is tried now has failed for good.
    mutating func spendMirror() { spentMirrors |= 1 << UInt64(min(63, mirror)) }
}

extension TransferError {
    /// Whether it's a disk of this machine that has no space.
    var isFullDisk: Bool { code == .diskFull && errno != nil }
}
