package import TransferCore

/// The findings about which hosts can be reached without a default route. Pure, without I/O.
///
/// The question is not whether there is an internet, but whether there is a route to this host. A file server may be on
/// a local network, under an address or a name from a hosts file or a neighbour.
///
/// A finding holds until the network changes. Neighbours and non-default routes appear without notice, so a bad finding
/// is checked again after two seconds, then at growing intervals up to a minute.
package struct HostWays: Sendable {
    package struct Question: Sendable, Hashable {
        package let host: String
        /// The only link that may be used, if the rules name one.
        package var link: String?

        package init(host: String, link: String? = nil) {
            self.host = host
            self.link = link
        }
    }

    package enum Finding: Sendable, Hashable {
        /// The indexes of the links that the kernel would use for its addresses; empty if no address has a route.
        case routes([Int])
        /// A name server can be reached, but the name has no address. An attempt fails the same way and reports it.
        case unknownName
        /// The name is unknown locally, and no name server can be reached.
        case unanswered
    }

    private struct State {
        var finding: Finding?
        var isAsking = false
        /// The time of the next check.
        var due = MonotonicTime(nanoseconds: .min)
        /// The number of bad findings in a row.
        var misses = 0
    }

    /// The most questions at a time; each may occupy a worker for seconds.
    package static let mostAsked = 64

    private var states: [Question: State] = [:]
    /// The number of network changes. Answers to questions from earlier generations are ignored.
    package private(set) var generation = 0

    package func finding(_ question: Question) -> Finding? { states[question]?.finding }

    /// Chooses the questions to ask.
    ///
    /// - Parameter questions: All questions that matter now; others are forgotten.
    /// - Returns: The questions to ask now, each of which must be answered.
    package mutating func ask(_ questions: Set<Question>, now: MonotonicTime) -> [Question] {
        if states.count > questions.count { states = states.filter { questions.contains($0.key) || $0.value.isAsking } }
        var room = Self.mostAsked - states.values.count { $0.isAsking }
        var asked: [Question] = []
        for question in questions where room > 0 {
            let state = states[question] ?? State()
            guard !state.isAsking, state.due <= now else { continue }
            states[question, default: state].isAsking = true
            asked.append(question)
            room -= 1
        }
        return asked
    }

    /// Takes an answer.
    ///
    /// - Parameter generation: The generation in which the question was asked.
    package mutating func answered(_ question: Question, _ finding: Finding, generation: Int, now: MonotonicTime) {
        guard generation == self.generation, var state = states[question] else { return }
        state.isAsking = false
        state.misses = finding.isWay ? 0 : state.misses + 1
        // A name may also get other addresses meanwhile.
        let seconds = finding.isWay ? 300 : min(60, 2 << min(state.misses - 1, 5))
        state.due = now + .seconds(Int64(seconds))
        state.finding = finding
        states[question] = state
    }

    /// Forgets all findings, because the network has changed.
    package mutating func forget() {
        generation += 1
        states = [:]
    }

    /// The time of the next check; `nil` if there is none.
    package var nextLook: MonotonicTime? { states.values.lazy.filter { !$0.isAsking }.map(\.due).min() }
}

extension HostWays.Finding {
    /// Whether an attempt is worthwhile, if the rules allow the links.
    fileprivate var isWay: Bool {
        switch self {
        case .routes(let links): !links.isEmpty
        case .unknownName: true
        case .unanswered: false
        }
    }
}
