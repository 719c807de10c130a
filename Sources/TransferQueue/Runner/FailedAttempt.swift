import Glibc
import TransferCore
import TransferJobs
import TransferScheduling

/// A failed attempt, and the decision that follows from the job's rules. Pure: the runner asks for the decision and
/// carries it out.
struct FailedAttempt {
    /// The job with the attempts spent before this one.
    private(set) var record: JobRecord
    var error: TransferError
    /// Whether a request body was sent that the server may have accepted.
    let bodyLeft: Bool
    /// Whether the answer's body had begun.
    let hadBegun: Bool
    /// Whether any part of an answer had come.
    let wasAnswered: Bool
    /// Whether its origin has refused other transfers that were under way with it, so that this refusal is no news.
    var repeatsOthers = false

    /// Creates a failed attempt.
    ///
    /// - Parameter isPreparing: Whether no request had been made.
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

    /// Whether the file in the watched folder is another version, which is no failure.
    var isReplaced: Bool { record.watched != nil && error.code == .sourceChanged }

    /// Whether the job may begin again without a spent attempt, if this machine is the reason.
    var mayRepeat: Bool { !(bodyLeft && record.spec.mustNotRepeat) }

    /// The fault in words if this machine's clock, which may be unset, is before the certificate's validity.
    var clockFault: String? {
        guard error.cause == .certificate(Self.notYetValid) else { return nil }
        return "this machine's clock is not set, and by it the server's certificate is not valid yet"
    }

    /// The constant `X509_V_ERR_CERT_NOT_YET_VALID` (X509_STORE_CTX_get_error(3)).
    private static let notYetValid: Int32 = 9

    /// Resets the count of attempts, because this one came further than any before it. A full disk does not reset it:
    /// each attempt would store a few bytes for ever.
    mutating func countAnew() {
        if !error.isFullDisk { (record.attempts, record.askedWait) = (0, .zero) }
    }

    // MARK: The origin's part

    /// The part of the job's origin in the failure.
    enum OriginFinding: Equatable {
        /// The origin is to blame.
        case failed
        case answered
        /// The failure says nothing about the origin.
        case none
    }

    /// Whether the origin says that it accepts fewer connections than it was given.
    var isCrowded: Bool { error.code == .tooManyConnections }

    /// Whether the origin refused it together with other transfers, which are counted once, for the first of them.
    var isCounted: Bool { repeatsOthers && error.status != nil && error.scope == .origin }

    /// The sign that the origin refuses this many transfers or drops their connections.
    var refusal: ConcurrencyBackoff.Refusal? {
        ConcurrencyBackoff.Refusal(error, hadBegun: hadBegun || wasAnswered || bodyLeft)
    }

    /// Returns what the failure says about the origin.
    ///
    /// - Parameters:
    ///   - origin: The origin in the job's lane.
    ///   - isEndless: Whether the job is tried for ever while its origin is the reason.
    func news(of origin: String, isEndless: Bool) -> OriginFinding {
        if error.scope == .origin || isSilent(origin, isEndless) { return .failed }
        return error.status != nil || hadBegun || error.code == .connectionLost ? .answered : .none
    }

    /// Returns whether the origin ended the connection without a byte of an answer, as a proxy before a dead server
    /// does. One file may cause that once, but hardly several in a row. Only watched folders wait to find out; other
    /// batches must end.
    private func isSilent(_ origin: String, _ isEndless: Bool) -> Bool {
        isEndless && !wasAnswered && error.status == nil
            && (error.code == .connectionLost || error.code == .secureConnectionFailed) && origin.hasPrefix("http")
    }

    // MARK: The decision

    /// The decision about the job.
    enum Verdict {
        /// The job gets another attempt. The record has the spent attempts and the next mirror.
        case again(JobRecord, after: Duration, because: TransferError)
        /// The job has failed for good.
        ///
        /// - Parameter isOurs: Whether the fault is this machine's, so that no host is to blame.
        case over(TransferError, attempts: Int, isOurs: Bool)
    }

    private var rule: RetryRule { record.spec.settings.retry.rule }

    /// Limits the server's requested wait to the job's remaining patience.
    mutating func boundWait() { error = error.bounded(to: rule.longestWait - record.askedWait) }

    /// Decides what follows.
    ///
    /// - Parameters:
    ///   - isEndless: Whether the job is tried for ever while its origin is the reason.
    ///   - isHeld: Whether the job waits behind its origin's pause anyway.
    ///   - random: A number from 0 up to 1, for each delay.
    /// - Returns: The decision, and the error by which the origin is given up if its patience is exhausted.
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
            // Other mirrors need not wait for one mirror's request to wait.
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

    /// Decides to probe the origin for ever, because the file itself is not at fault.
    private func probeForEver(_ isHeld: Bool, _ random: () -> Double) -> Verdict {
        var record = record
        let error = error.bounded(to: rule.longestWait)
        let delay = rule.delay(retriesSpent: record.attempts, retryAfter: error.retryAfter, random: random())
        record.attempts += 1
        return .again(record, after: isHeld ? .zero : delay, because: error)
    }

    /// Gives the URL up. A fault of this machine is no reason to try another mirror.
    private func elsewhere(
        _ given: JobRecord, _ error: TransferError, _ mirrors: Int, isUnrepeatable: Bool
    ) -> Verdict {
        var record = given
        let isOurs = error.errno != nil || error.code == .secretMissing
        record.spendMirror()
        if !isOurs, let mirror = record.nextMirror(of: mirrors) {
            record.mirror = mirror
            // The next mirror is asked in an attempt of its own.
            record.attempts += 1
            return .again(record, after: .zero, because: error)
        }
        // Without the answer to an upload there is no receipt. The answer to a download has already brought bytes.
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
    /// Returns the next URL that has not failed for good.
    func nextMirror(of count: Int) -> Int? {
        (1...count).lazy.map { (mirror + $0) % count }.first { !hasSpent($0) }
    }

    /// Whether the job is in the first round through its mirrors, and the current mirror is not the last of them.
    var hasFurtherMirrors: Bool {
        !spec.isUpload && spec.urls.count > 1 && attempts < spec.urls.count - 1
            && nextMirror(of: spec.urls.count).map { $0 != mirror } == true
    }

    /// Marks the current URL as failed for good.
    mutating func spendMirror() { spentMirrors |= 1 << UInt64(min(63, mirror)) }
}

extension TransferError {
    /// Whether a disk of this machine is full.
    var isFullDisk: Bool { code == .diskFull && errno != nil }
}
