package import TransferCore
package import TransferJobs

/// The evidence whether usable links lead anywhere. A link with carrier and route whose connections get no answer is
/// suspect. It is used last, and probed until a host answers.
///
/// An answer is any byte, a refusal, or an answer to a name lookup: each shows that the link works.
package struct LinkHealth: Sendable {
    /// The evidence against a link.
    package struct Suspicion: Sendable, Hashable {
        /// The time at which the first of the unanswered connections was given up.
        package var since: WallTime
        package var unanswered: Int
        /// Whether the link is at fault rather than a dead server: several hosts gave no answer, or none has answered
        /// since the link came up.
        package var isBlamed: Bool

        package init(since: WallTime, unanswered: Int, isBlamed: Bool) {
            self.since = since
            self.unanswered = unanswered
            self.isBlamed = isBlamed
        }
    }

    package enum Event: Sendable {
        /// A connection timed out, or received no byte.
        ///
        /// - Parameters:
        ///   - host: The host that gave no answer, possibly a name server.
        ///   - started: The time when the connection was begun.
        case unanswered(host: String, started: MonotonicTime)
        case answered
        /// The kernel reports another state, address or route, so that earlier evidence is void.
        case changed
        case removed
        /// The exchange that probed the link ended without a verdict, for example because it was cancelled.
        case probeAbandoned
    }

    package enum Action: Sendable, Equatable {
        case none
        /// The link is suspect: other links are preferred, and it is probed at ``nextProbe``.
        case suspect
        /// The link is trusted again, so that waiting jobs may start.
        case trust
    }

    /// The state of a link: `trusted` → `suspect` → `probing` → `trusted` | `suspect`.
    private enum State: Sendable {
        case trusted(Streak)
        case suspect(Streak, probeAt: MonotonicTime, delay: Duration)
        case probing(Streak, delay: Duration)
    }

    /// The unanswered connections in a row.
    private struct Streak: Sendable {
        var count = 0
        var hosts: Set<String> = []
        var since = WallTime(milliseconds: 0)

        mutating func add(_ host: String, _ wall: WallTime) {
            if count == 0 { since = wall }
            count += 1
            // Two hosts are enough for the decision.
            if hosts.count < 2 { hosts.insert(host) }
        }
    }

    private struct Link: Sendable {
        var state = State.trusted(Streak())
        /// Whether the link has carried an answer since it changed.
        var hasAnswered = false
        var changed = MonotonicTime(nanoseconds: .min)
    }

    private var links: [String: Link] = [:]

    /// The number of unanswered connections in a row that make a link suspect, since one may be chance.
    package static let patience = 3
    package static let firstDelay = Duration.seconds(30)
    package static let longestDelay = Duration.seconds(300)

    /// Takes an event.
    ///
    /// - Parameter wall: The time that is shown to users.
    package mutating func event(_ event: Event, of name: String, now: MonotonicTime, wall: WallTime) -> Action {
        if case .removed = event {
            links[name] = nil
            return .none
        }
        var link = links[name] ?? Link()
        defer { links[name] = link }
        switch event {
        case .unanswered(let host, let started):
            // A connection from before the change says nothing about the present network.
            guard started >= link.changed else { return .none }
            return Self.miss(&link, host, now, wall)
        case .answered:
            link.hasAnswered = true
            let wasSuspect = if case .trusted = link.state { false } else { true }
            link.state = .trusted(Streak())
            return wasSuspect ? .trust : .none
        case .changed:
            link.changed = now
            link.hasAnswered = false
            switch link.state {
            case .trusted: link.state = .trusted(Streak())
            case .suspect(let streak, _, _), .probing(let streak, _):
                link.state = .suspect(streak, probeAt: now, delay: Self.firstDelay)
            }
            return .none
        case .removed: return .none
        case .probeAbandoned:
            if case .probing(let streak, let delay) = link.state {
                link.state = .suspect(streak, probeAt: now, delay: delay)
            }
            return .none
        }
    }

    private static func miss(_ link: inout Link, _ host: String, _ now: MonotonicTime, _ wall: WallTime) -> Action {
        switch link.state {
        case .trusted(var streak):
            streak.add(host, wall)
            guard streak.count >= patience else {
                link.state = .trusted(streak)
                return .none
            }
            link.state = .suspect(streak, probeAt: now + firstDelay, delay: firstDelay)
            return .suspect
        case .suspect(var streak, let probeAt, let delay):
            // The connection was already under way when the link became suspect.
            streak.add(host, wall)
            link.state = .suspect(streak, probeAt: probeAt, delay: delay)
        case .probing(var streak, let delay):
            streak.add(host, wall)
            let next = min(delay * 2, longestDelay)
            link.state = .suspect(streak, probeAt: now + next, delay: next)
        }
        return .none
    }

    /// Returns the evidence against a link.
    ///
    /// - Returns: `nil` for a trusted link.
    package func suspicion(of name: String) -> Suspicion? {
        guard let link = links[name] else { return nil }
        switch link.state {
        case .trusted: return nil
        case .suspect(let streak, _, _), .probing(let streak, _):
            return Suspicion(
                since: streak.since, unanswered: streak.count,
                isBlamed: streak.hosts.count > 1 || !link.hasAnswered)
        }
    }

    /// The time when a suspect link is tried again; `nil` if there is none, or all are being tried.
    package var nextProbe: MonotonicTime? {
        links.values.compactMap { if case .suspect(_, let time, _) = $0.state { time } else { nil } }.min()
    }

    /// Returns the links to try now over one connection each. Every try ends in an event.
    package mutating func takeProbes(now: MonotonicTime) -> [String] {
        let due = links.filter { if case .suspect(_, let time, _) = $0.value.state { time <= now } else { false } }
        for (name, link) in due {
            if case .suspect(let streak, _, let delay) = link.state {
                links[name]?.state = .probing(streak, delay: delay)
            }
        }
        return due.keys.sorted()
    }
}
