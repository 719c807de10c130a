package import TransferCore

/// Whether hosts can be reached without a way out, as far as it was found out: without any I/O.
///
/// The question is whether there is a way to this host, not whether there is an internet: a file server may be on the
/// machine's own network, under an address, or under a name that a file of hosts or a neighbour knows. A finding holds
/// until the network changes; as neighbours come without the kernel's notice, and routes that aren't default ones without a
/// snapshot, a bad one is looked at again after two seconds, and then at growing intervals up to a minute.
package struct HostWays: Sendable {
    package struct Question: Sendable, Hashable {
        package let host: String
        /// The only link that it may be reached over, where the rules name one.
        package var link: String?

        package init(host: String, link: String? = nil) {
            self.host = host
            self.link = link
        }
    }

    package enum Finding: Sendable, Hashable {
        /// The links that the kernel would send to its addresses over, by index; none where no address has a route.
        case routes([Int])
        /// A name server can be reached, and the name has no address: an attempt comes to the same and says so.
        case unknownName
        /// Nobody knows the name, and no name server can be reached.
        case unanswered
    }

    private struct State {
        var finding: Finding?
        var isAsking = false
        /// The time to look again.
        var due = MonotonicTime(nanoseconds: .min)
        /// Bad findings one after the other.
        var misses = 0
    }

    /// Questions at a time; each may take a worker some seconds.
    package static let mostAsked = 64

    private var states: [Question: State] = [:]
    /// Counts the changes of the network; answers to questions of before say nothing.
    package private(set) var generation = 0

    package func finding(_ question: Question) -> Finding? { states[question]?.finding }

    /// - Parameter questions: All that matter now; others are forgotten.
    /// - Returns: Those to ask now, each to be answered.
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

    /// - Parameter generation: The one in which it was asked.
    package mutating func answered(_ question: Question, _ finding: Finding, generation: Int, now: MonotonicTime) {
        guard generation == self.generation, var state = states[question] else { return }
        state.isAsking = false
        state.misses = finding.isWay ? 0 : state.misses + 1
        // A name may get other addresses meanwhile, too.
        let seconds = finding.isWay ? 300 : min(60, 2 << min(state.misses - 1, 5))
        state.due = now + .seconds(Int64(seconds))
        state.finding = finding
        states[question] = state
    }

    /// The network is another one.
    package mutating func forget() {
        generation += 1
        states = [:]
    }

    /// The time at which a question is due again; `nil` when there is none.
    package var nextLook: MonotonicTime? { states.values.lazy.filter { !$0.isAsking }.map(\.due).min() }
}

extension HostWays.Finding {
    /// Whether an attempt is worth it, as far as rules leave the links free.
    fileprivate var isWay: Bool {
        switch self {
        case .routes(let links): !links.isEmpty
        case .unknownName: true
        case .unanswered: false
        }
    }
}
