package import TransferCore

/// How many transfers an origin gets at a time where nobody says a number: pure, told what happened and at what time.
///
/// The level begins at 10 (8 at servers of files) and grows as long as that pays, up to 64. Of a refusal by the server
/// ``ConcurrencyBackoff`` makes fewer.
///
/// - An answer that came within about one round trip says that neither the server nor the link had a queue: two more
///   transfers begin at once (``AnswerWait``). Else the level is doubled on trial, as follows.
/// - A transfer counts as its bytes and 64 KiB more, for what asking costs: one rate tells of small files that wait for
///   answers and of large ones that share a line. It is measured only while all places are taken and others wait.
/// - A round is as many ends as there are places, or a quarter of a second. The first round after each change isn't
///   measured: connections are made in it.
/// - A doubling has paid with 0.8 of the gain that it might bring at best in one round, with 0.6 in a later one, with 0.25 after
///   eight (``TransferCore/ConnectionGrowth/payment``). Else it is taken back, and tried again after two seconds, then after
///   twice as long each time, up to five minutes; at once where the rate before was measured for less than eight rounds.
package struct ConcurrencyProbe: Sendable, Codable {
    package static let first = 10
    /// Servers of files ask for a login on each connection, and sshd drops some where ten wait for theirs (MaxStartups).
    package static let firstOfFiles = 8
    package static let most = 64
    /// Places that a prompt answer brings.
    private static let promptGrowth = 2

    package static func first(at origin: String) -> Int {
        origin.hasPrefix("http") ? first : firstOfFiles
    }

    /// The part of the best gain that is enough in the first round, and in a later one.
    private static let enough = (atOnce: 0.8, soon: 0.6)
    /// Rounds after which a doubling is judged for good.
    static let trialRounds = 8
    /// How long nobody may have wanted the places, for the rate before a doubling to say something yet.
    static let trialGap = Duration.seconds(20)
    static let rests = Duration.seconds(2)...Duration.seconds(320)

    /// The level that was found, or is being tried.
    private var level: Int
    private let first: Int
    private var measured: RateMeasurement?
    private var trial: Trial?
    private var rest = rests.lowerBound
    /// No doubling is tried before; `nil` while the last one paid.
    private var notBefore: MonotonicTime?
    private var backoff: ConcurrencyBackoff?

    /// A doubling that has to show that it pays.
    private struct Trial: Sendable, Codable {
        /// How many places there were before.
        let places: Int
        /// The rate that they brought.
        let rate: Double
        /// Whether it was measured long enough for luck to have little part in it.
        let isSure: Bool
        let began: MonotonicTime
        /// When its places were all wanted last.
        var seen: MonotonicTime
    }

    package init(first: Int = first) {
        (level, self.first) = (first, first)
    }

    package var places: Int { backoff.map { min(level, $0.bound) } ?? level }

    /// The most connections, those of jobs and those that single files have besides: these have a growth of their own.
    package var connections: Int { backoff?.bound ?? Self.most }

    /// Nothing was learned here that a new level wouldn't have.
    package var isNew: Bool { level == first && trial == nil && backoff == nil && notBefore == nil }

    /// Whether time alone may bring it further.
    ///
    /// - Parameter isFull: Whether all places are taken and others wait for one.
    package func isGrowing(isFull: Bool) -> Bool { backoff != nil || isFull && places < Self.most }

    /// Bytes came or went.
    package mutating func moved(_ bytes: Int64) { measured?.add(bytes) }

    /// A transfer got its answer; its bytes were told before.
    ///
    /// - Parameters:
    ///   - isFull: Whether all places were taken and others waited for one.
    ///   - isPrompt: Whether its answer came within about one round trip, from afar.
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

    /// Time has passed, and what transfers under way moved in it was told.
    package mutating func look(isFull: Bool, now: MonotonicTime) {
        measured?.sample()
        go(isFull, now, isEnd: false)
    }

    /// A transfer was refused, or its connection was lost.
    ///
    /// - Parameters:
    ///   - inUse: The connections that are open, with this one. Alone it is refused for another reason.
    ///   - since: When the transfer began.
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
        // Of places that nobody wants nothing is learned.
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
            // Where a try takes long, there is a longer rest.
            notBefore = trial.isSure ? now + max(rest, (now - trial.began) * 4) : now
            if trial.isSure { rest = min(rest * 2, Self.rests.upperBound) }
        }
    }

    private mutating func takeBack(_ trial: Trial) {
        level = trial.places
        (self.trial, measured) = (nil, nil)
    }

    /// - Parameter rate: What the places bring now, over so many rounds.
    private mutating func double(_ rate: Double, _ rounds: Int, _ now: MonotonicTime) {
        let isSure = rounds >= Self.trialRounds
        if notBefore != nil, !isSure { return }
        measured = nil
        guard level < Self.most, rate > 0, notBefore.map({ $0 <= now }) ?? true else { return }
        trial = Trial(places: level, rate: rate, isSure: isSure, began: now, seen: now)
        level = min(Self.most, level * 2)
    }
}
