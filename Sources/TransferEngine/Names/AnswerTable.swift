import TransferCore

/// The hosts whose addresses are known or being looked up, with the waiting callers: without any I/O.
///
/// An answer belongs to the network that it came from. After a flush, answers to earlier questions only reach the
/// callers that waited for them. A failed question is asked again for them.
struct AnswerTable<Waiter> {
    struct Question: Hashable, Sendable {
        let host: String
        /// The only link to ask over; `nil` asks as the system does.
        let link: String?
    }

    typealias AskID = UInt64
    typealias Ticket = UInt64
    typealias Answer = Result<[String], TransferError>

    enum Finding: Equatable {
        case known([String])
        /// The question is under way already.
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
        /// Whether the network has changed since the question began.
        var isStale = false
    }

    private let lifetime: Duration
    private var entries: [Question: Entry] = [:]
    private var asks: [AskID: Ask] = [:]
    private var lastAsk: AskID = 0

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Finds addresses, or adds a waiter.
    ///
    /// - Parameter ticket: The unique ticket by which the waiter can be withdrawn.
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

    /// Begins a question on the calling worker.
    ///
    /// - Returns: `nil` when no caller waits for it.
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

    /// Discards all answers, because the network has changed.
    ///
    /// - Returns: The current questions that can be interrupted, as their answers would be of the old network.
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

    /// Withdraws a waiter.
    ///
    /// - Returns: The question that can be interrupted, if no caller waits for it.
    mutating func abandon(_ ticket: Ticket) -> AskID? {
        guard let (id, index) = find(ticket) else { return nil }
        asks[id]?.waiters.remove(at: index)
        // The system's own resolver cannot be interrupted, so its answer is kept.
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

    /// Drops expired answers: hosts that are never asked for again would stay forever.
    private mutating func dropExpired(_ now: MonotonicTime) {
        guard entries.count >= 4096 else { return }
        entries = entries.filter { if case .known(_, let until) = $0.value { until > now } else { true } }
    }
}
