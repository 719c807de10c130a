import TransferCore

/// The schedule of checks for exchanges that are silent for too long, or late. One check serves all, without a timer
/// for each.
struct Silence {
    /// An exchange that has a bound on silence.
    struct Subject {
        var lastActivity: MonotonicTime
        /// Whether the exchange is held back, so that its silence does not count.
        var isHeld = false
        /// The longest permitted silence.
        var bound: Duration
        /// The time by which the exchange must have ended; `nil` without a bound on its whole time.
        var deadline: MonotonicTime?
        /// The other exchanges that may share its link; `nil` where there are none.
        var company: Company?

        /// Returns whether the bound on the silence is over.
        func isOver(_ now: MonotonicTime) -> Bool { !isHeld && lastActivity + bound <= now }

        /// Returns the time at which the exchange is silent for too long, or late. A time after now may be only the
        /// next check.
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
    /// Transfers that share a slow link wait for one another. A lost packet of one is sent again after all queued
    /// packets of the others, and later each time. Silence proves nothing against an exchange before it should have had
    /// its turn. A link on which nothing moves at all is not slow.
    struct Company {
        /// The bytes that all exchanges have moved.
        var moved: Int64
        /// The number of exchanges under way, the silent one included.
        var count: Int
        /// The time at which an exchange last moved a byte.
        var lastMoved: MonotonicTime

        /// The bytes that an exchange should have moved by then.
        static let share: Int64 = 256 << 10
        /// The longest silence, as a multiple of the bound.
        static let most = 5

        var isSlow: Bool { moved / Int64(max(1, count)) < Self.share }
    }

    enum Fault { case silent, late }

    /// The shortest time by which two checks differ.
    static let granularity = Duration.milliseconds(50)

    /// The time of the next check; `nil` while none is needed.
    private(set) var nextLook: MonotonicTime?

    /// Schedules an exchange that begins.
    ///
    /// - Returns: The time of the next check, where this exchange needs an earlier one.
    mutating func begin(_ subject: Subject, now: MonotonicTime) -> MonotonicTime? { wants(subject.due(now)) }

    /// Finds the exchanges that must end.
    ///
    /// - Returns: The exchanges to end, and the time of the next check of the others.
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

    /// Requests a check.
    ///
    /// - Returns: The time, where it is earlier than the next check; it is the next check from now on.
    mutating func wants(_ time: MonotonicTime) -> MonotonicTime? {
        guard nextLook.map({ time < $0 }) ?? true else { return nil }
        nextLook = time
        return time
    }
}
