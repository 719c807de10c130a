import TransferCore

/// When exchanges are looked at that may have been silent for too long, or are late: one look at all of them, as nobody
/// wants a timer for each.
struct Silence {
    /// An exchange that has a bound on silence.
    struct Subject {
        var lastActivity: MonotonicTime
        /// An exchange that is held back has nothing to say for itself.
        var isHeld = false
        /// The longest silence.
        var bound: Duration
        /// The time by which the exchange has to have ended; `nil` without a bound on its whole time.
        var deadline: MonotonicTime?
        /// The other exchanges that may share its link; `nil` where there are none.
        var company: Company?

        /// Whether the bound on its silence is over.
        func isOver(_ now: MonotonicTime) -> Bool { !isHeld && lastActivity + bound <= now }

        /// When it has been silent for too long, or is late; a later time than now may be only the next look.
        func due(_ now: MonotonicTime) -> MonotonicTime {
            var due = (isHeld ? now : lastActivity) + bound
            if isOver(now), let company, company.isSlow {
                let end = min(lastActivity + bound * Company.most, company.lastMoved + bound)
                due = end > now ? min(end, now + bound / 8) : end
            }
            return deadline.map { min(due, $0) } ?? due
        }
    }

    /// The bytes that all exchanges together have moved since one of them fell silent.
    ///
    /// Transfers that share a slow link wait for one another: a packet of one that was lost is sent again after all that the
    /// others have in the queue, and later each time. Silence proves nothing against an exchange before it should have had
    /// its turn. A link on which nothing moves at all is no slow one.
    struct Company {
        /// Bytes of all exchanges.
        var moved: Int64
        /// Exchanges under way, the silent one included.
        var count: Int
        /// The time at which any of them moved a byte last.
        var lastMoved: MonotonicTime

        /// Bytes that an exchange should have had by then.
        static let share: Int64 = 256 << 10
        /// Silence is never longer than so many times its bound.
        static let most = 5

        var isSlow: Bool { moved / Int64(max(1, count)) < Self.share }
    }

    enum Fault { case silent, late }

    /// The finest that is told apart.
    static let granularity = Duration.milliseconds(50)

    /// The next look; `nil` while nobody needs one.
    private(set) var nextLook: MonotonicTime?

    /// - Returns: The time of the next look, where this exchange needs an earlier one.
    mutating func begin(_ subject: Subject, now: MonotonicTime) -> MonotonicTime? { wants(subject.due(now)) }

    /// Takes out of `exchanges` those that have to end.
    ///
    /// - Returns: Them, and when the others are to be looked at.
    mutating func look<Exchanges: Sequence>(
        at exchanges: Exchanges, now: MonotonicTime, subject: (Exchanges.Element) -> Subject?
    ) -> (ended: [(Exchanges.Element, Fault)], next: MonotonicTime?) {
        nextLook = nil
        var ended: [(Exchanges.Element, Fault)] = []
        var next: MonotonicTime?
        for exchange in exchanges {
            guard let subject = subject(exchange) else { continue }
            let due = subject.due(now)
            if due <= now {
                ended.append((exchange, subject.deadline.map { $0 <= now } == true ? .late : .silent))
            } else {
                next = min(next ?? due, due)
            }
        }
        return (ended, next.map { max($0, now + Self.granularity) })
    }

    /// - Returns: The time, where it's earlier than the next look, which it is from now on.
    mutating func wants(_ time: MonotonicTime) -> MonotonicTime? {
        guard nextLook.map({ time < $0 }) ?? true else { return nil }
        nextLook = time
        return time
    }
}
