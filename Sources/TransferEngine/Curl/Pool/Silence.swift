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

        /// When it has been silent for too long, or is late.
        func due(_ now: MonotonicTime) -> MonotonicTime {
            let due = (isHeld ? now : lastActivity) + bound
            return deadline.map { min(due, $0) } ?? due
        }
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
