import TransferCore

/// The hosts whose addresses are known or being asked for, and who waits for them: without any I/O.
///
/// An answer belongs to the network that it came from. After a flush, what was being asked by then is given to those
/// who waited for it, and to nobody else; where it failed, they are asked for anew.
struct AnswerTable<Waiter> {
    struct Question: Hashable, Sendable {
        let host: String
        /// The only link to ask over; `nil`: as the system asks.
        let link: String?
    }

    typealias AskID = UInt64
    typealias Ticket = UInt64
    typealias Answer = Result<[String], TransferError>

    enum Finding: Equatable {
        case known([String])
        /// Somebody asks already.
        case waiting
        case mustAsk(AskID)
    }

    enum Outcome {
        case deliver([Waiter], Answer)
        case ask(AskID)
        case nothing
    }

    private enum Entry {
        case asking(AskID)
        case known([String], until: MonotonicTime)
    }

    private struct Ask {
        let question: Question
        var waiters: [(ticket: Ticket, waiter: Waiter)]
        var hasBegun = false
        /// The network has changed since it began.
        var isStale = false
    }

    private let lifetime: Duration
    private var entries: [Question: Entry] = [:]
    private var asks: [AskID: Ask] = [:]
    private var lastAsk: AskID = 0

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// - Parameter ticket: By which the waiter can be taken back; its own.
    mutating func find(_ question: Question, _ ticket: Ticket, _ waiter: Waiter, now: MonotonicTime) -> Finding {
        switch entries[question] {
        case .known(let addresses, let until) where until > now: return .known(addresses)
        case .asking(let ask):
            asks[ask]?.waiters.append((ticket, waiter))
            return .waiting
        case .known, nil: return .mustAsk(newAsk(question, [(ticket, waiter)]))
        }
    }

    private mutating func newAsk(_ question: Question, _ waiters: [(ticket: Ticket, waiter: Waiter)]) -> AskID {
        lastAsk += 1
        asks[lastAsk] = Ask(question: question, waiters: waiters)
        entries[question] = .asking(lastAsk)
        return lastAsk
    }

    /// Somebody is about to ask.
    ///
    /// - Returns: `nil` when nobody wants to know any more.
    mutating func begin(_ ask: AskID) -> Question? {
        asks[ask]?.hasBegun = true
        return asks[ask]?.question
    }

    mutating func answered(_ id: AskID, _ answer: Answer, now: MonotonicTime) -> Outcome {
        guard let ask = asks.removeValue(forKey: id) else { return .nothing }
        let waiters = ask.waiters.map(\.waiter)
        if ask.isStale {
            guard case .failure = answer, !waiters.isEmpty else { return .deliver(waiters, answer) }
            switch entries[ask.question] {
            case .known(let addresses, let until) where until > now: return .deliver(waiters, .success(addresses))
            case .asking(let other):
                asks[other]?.waiters += ask.waiters
                return .nothing
            case .known, nil: return .ask(newAsk(ask.question, ask.waiters))
            }
        }
        if case .success(let addresses) = answer {
            dropExpired(now)
            entries[ask.question] = .known(addresses, until: now + lifetime)
        } else {
            entries[ask.question] = nil
        }
        return .deliver(waiters, answer)
    }

    /// The network has changed.
    ///
    /// - Returns: What is being asked and can be interrupted, as its answer would be of the old network.
    mutating func flush() -> [AskID] {
        entries = entries.filter {
            if case .asking(let id) = $0.value, let ask = asks[id] { !ask.hasBegun } else { false }
        }
        var interrupted: [AskID] = []
        for (id, ask) in asks where ask.hasBegun && !ask.isStale {
            asks[id]?.isStale = true
            if ask.question.link != nil { interrupted.append(id) }
        }
        return interrupted
    }

    /// A waiter has given up.
    ///
    /// - Returns: What can be interrupted, as nobody waits for it any more.
    mutating func abandon(_ ticket: Ticket) -> AskID? {
        guard let (id, index) = find(ticket) else { return nil }
        asks[id]?.waiters.remove(at: index)
        // The system's own resolver can't be interrupted: its answer may as well be kept.
        guard let ask = asks[id], ask.waiters.isEmpty, ask.question.link != nil || !ask.hasBegun else { return nil }
        asks[id] = nil
        if case .asking(id) = entries[ask.question] { entries[ask.question] = nil }
        return ask.hasBegun ? id : nil
    }

    private func find(_ ticket: Ticket) -> (AskID, Int)? {
        for (id, ask) in asks {
            if let index = ask.waiters.firstIndex(where: { $0.ticket == ticket }) { return (id, index) }
        }
        return nil
    }

    /// Hosts that are never asked for again would stay for ever.
    private mutating func dropExpired(_ now: MonotonicTime) {
        guard entries.count >= 4096 else { return }
        entries = entries.filter { if case .known(_, let until) = $0.value { until > now } else { true } }
    }
}
