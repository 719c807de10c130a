package import TransferCore

/// The number of concurrent transfers of an origin without a configured number. Pure: it takes events with their times.
///
/// The level begins at 10 (8 at servers of files) and grows while that pays, up to 64. After a refusal by the server,
/// ``ConcurrencyBackoff`` lowers it.
///
/// - An answer within about one round trip shows that neither server nor link had a queue. Two more transfers begin at
///   once (``AnswerWait``). Otherwise the level is doubled on trial, as follows.
/// - A transfer counts as its bytes and 64 KiB more for the cost of the request. One rate thus covers small files that
///   wait for answers and large ones that share a line. It is measured only while all places are taken and other jobs
///   wait.
/// - A round lasts for as many ends as there are places, or a quarter of a second. The first round after each change is
///   not measured, because connections are made in it.
/// - A doubling has paid with 0.8 of its greatest possible gain in one round, with 0.6 in a later one, or with 0.25
///   after eight (``TransferCore/ConnectionGrowth/payment``). Otherwise it is undone, and tried again after two
///   seconds, then after doubled times, up to five minutes. It is tried again at once if the earlier rate was measured
///   for fewer than eight rounds.
package struct ConcurrencyProbe: Sendable, Codable {
    package static let first = 10
    /// The first level at file servers, which ask for a login on each connection. sshd drops some if ten wait for
    /// theirs (MaxStartups).
    package static let firstOfFiles = 8
    package static let most = 64
    /// The number of places that a prompt answer adds.
    private static let promptGrowth = 2

    package static func first(at origin: String) -> Int {
        origin.hasPrefix("http") ? first : firstOfFiles
    }

    /// The fraction of the best gain that suffices in the first round, and in a later one.
    private static let enough = (atOnce: 0.8, soon: 0.6)
    /// The number of rounds after which a doubling is judged for good.
    static let trialRounds = 8
    /// The time without demand for all places after which the rate before a doubling is out of date.
    static let trialGap = Duration.seconds(20)
    static let rests = Duration.seconds(2)...Duration.seconds(320)

    /// The level that was found, or is being tried.
    private var level: Int
    private let first: Int
    private var measured: RateMeasurement?
    private var trial: Trial?
    private var rest = rests.lowerBound
    /// The time before which no doubling is tried; `nil` while the last one paid.
    private var notBefore: MonotonicTime?
    private var backoff: ConcurrencyBackoff?

    /// A doubling that has to prove its worth.
    private struct Trial: Sendable, Codable {
        /// The number of places before the doubling.
        let places: Int
        /// The rate with those places.
        let rate: Double
        /// Whether it was measured long enough to be more than chance.
        let isSure: Bool
        let began: MonotonicTime
        /// The last time when all places were wanted.
        var seen: MonotonicTime
    }

    package init(first: Int = first) {
        (level, self.first) = (first, first)
    }

    package var places: Int { backoff.map { min(level, $0.bound) } ?? level }

    /// The most connections of jobs and single files together. The additional connections of files have their own
    /// growth.
    package var connections: Int { backoff?.bound ?? Self.most }

    /// Whether this level has learned no more than a new one.
    package var isNew: Bool { level == first && trial == nil && backoff == nil && notBefore == nil }

    /// Returns whether the level may change with time alone.
    ///
    /// - Parameter isFull: Whether all places are taken and other jobs wait for one.
    package func isGrowing(isFull: Bool) -> Bool { backoff != nil || isFull && places < Self.most }

    /// Notes moved bytes.
    package mutating func moved(_ bytes: Int64) { measured?.add(bytes) }

    /// Notes that a transfer got its answer; its bytes were reported before.
    ///
    /// - Parameters:
    ///   - isFull: Whether all places were taken and other jobs waited for one.
    ///   - isPrompt: Whether its answer came within about one round trip, from a distant server.
    package mutating func answered(isFull: Bool, isPrompt: Bool = false, now: MonotonicTime) {
        if isPrompt, isFull, backoff == nil, level < Self.most {
            level = min(Self.most, level + Self.promptGrowth)
            (trial, measured) = (nil, nil)
            (rest, notBefore) = (Self.rests.lowerBound, nil)
            return
        }
        if isFull, measured == nil { measured = RateMeasurement(now) }
        measured?.end()
        go(isFull, now, isEnd: true)
    }

    /// Reviews the level as time has passed, after the bytes of transfers under way were reported.
    package mutating func look(isFull: Bool, now: MonotonicTime) {
        measured?.sample()
        go(isFull, now, isEnd: false)
    }

    /// Notes that a transfer was refused, or lost its connection.
    ///
    /// - Parameters:
    ///   - inUse: The number of open connections, including this one. A single connection is refused for another
    ///     reason.
    ///   - since: The time when the transfer began.
    package mutating func refused(
        _ refusal: ConcurrencyBackoff.Refusal, inUse: Int, since: MonotonicTime, now: MonotonicTime
    ) {
        let used = max(places, inUse)
        if backoff == nil {
            backoff = ConcurrencyBackoff(refusal, inUse: inUse, of: used, now: now)
        } else {
            backoff?.refused(refusal, inUse: inUse, of: used, since: since, now: now)
        }
        guard backoff != nil else { return }
        if let trial { level = trial.places }
        (trial, measured) = (nil, nil)
    }

    private mutating func go(_ isFull: Bool, _ now: MonotonicTime, isEnd: Bool) {
        if backoff?.recover(now) == true { backoff = nil }
        // Places without demand teach nothing.
        guard backoff == nil, isFull else {
            measured = nil
            return
        }
        if let trial, now - trial.seen > Self.trialGap { takeBack(trial) }
        trial?.seen = now
        guard measured != nil else {
            measured = RateMeasurement(now)
            return
        }
        let places = places
        guard measured?.isRoundOver(places: places, now: now, isEnd: isEnd) == true, let measured,
            let rate = measured.rate(now)
        else { return }
        if let trial {
            judge(trial, rate, measured.rounds, now)
        } else {
            double(rate, measured.rounds, now)
        }
    }

    private mutating func judge(_ trial: Trial, _ rate: Double, _ rounds: Int, _ now: MonotonicTime) {
        let best = Double(level) / Double(trial.places) - 1
        let share = (rate / trial.rate - 1) / best
        let isOver = rounds >= Self.trialRounds
        let enough = isOver ? ConnectionGrowth.payment - 1 : rounds > 1 ? Self.enough.soon : Self.enough.atOnce
        if share >= enough {
            self.trial = nil
            (rest, notBefore) = (Self.rests.lowerBound, nil)
            double(rate, rounds, now)
        } else if isOver {
            takeBack(trial)
            // If a trial takes long, the rest is longer.
            notBefore = trial.isSure ? now + max(rest, (now - trial.began) * 4) : now
            if trial.isSure { rest = min(rest * 2, Self.rests.upperBound) }
        }
    }

    private mutating func takeBack(_ trial: Trial) {
        level = trial.places
        (self.trial, measured) = (nil, nil)
    }

    /// Starts a trial of twice the places.
    ///
    /// - Parameter rate: The present rate of the places, over this many rounds.
    private mutating func double(_ rate: Double, _ rounds: Int, _ now: MonotonicTime) {
        let isSure = rounds >= Self.trialRounds
        if notBefore != nil, !isSure { return }
        measured = nil
        guard level < Self.most, rate > 0, notBefore.map({ $0 <= now }) ?? true else { return }
        trial = Trial(places: level, rate: rate, isSure: isSure, began: now, seen: now)
        level = min(Self.most, level * 2)
    }
}
