package import TransferCore
package import TransferJobs

/// Whether the links that look usable lead anywhere: one with carrier and route whose connections nobody answers is
/// suspect, is used last, and is probed until somebody answers.
///
/// An answer is any byte, a refusal or an answer to a name look-up: it shows that the link carries.
package struct LinkHealth: Sendable {
    /// The evidence against a link.
    package struct Suspicion: Sendable, Hashable {
        /// The time at which the first of the unanswered connections was given up.
        package var since: WallTime
        package var unanswered: Int
        /// Whether it's the link's fault rather than a dead server's: nobody of several answered, or nobody ever did
        /// since the link came up.
        package var isBlamed: Bool

        package init(since: WallTime, unanswered: Int, isBlamed: Bool) {
            self.since = since
            self.unanswered = unanswered
            self.isBlamed = isBlamed
        }
    }

    package enum Event: Sendable {
        /// A connection timed out, or gave no byte.
        ///
        /// - Parameters:
        ///   - host: Who didn't answer; a name server is one too.
        ///   - started: When the connection was begun.
        case unanswered(host: String, started: MonotonicTime)
        case answered
        /// The kernel reports another state, address or route: what was before says nothing any more.
        case changed
        case removed
        /// The exchange that was to probe it ended without a verdict, for example by being cancelled.
        case probeAbandoned
    }

    package enum Action: Sendable, Equatable {
        case none
        /// Prefer others from now on, and look at ``nextProbe``.
        case suspect
        /// The link is like others again: what waits may start.
        case trust
    }

    /// `trusted` → `suspect` → `probing` → `trusted` | `suspect`.
    private enum State: Sendable {
        case trusted(Streak)
        case suspect(Streak, probeAt: MonotonicTime, delay: Duration)
        case probing(Streak, delay: Duration)
    }

    /// Connections in a row that nobody answered.
    private struct Streak: Sendable {
        var count = 0
        var hosts: Set<String> = []
        var since = WallTime(milliseconds: 0)

        mutating func add(_ host: String, _ wall: WallTime) {
            if count == 0 { since = wall }
            count += 1
            // More than one is all that's asked for.
            if hosts.count < 2 { hosts.insert(host) }
        }
    }

    private struct Link: Sendable {
        var state = State.trusted(Streak())
        /// Whether it ever carried an answer since it changed.
        var hasAnswered = false
        var changed = MonotonicTime(nanoseconds: .min)
    }

    private var links: [String: Link] = [:]

    /// As many in a row make a link suspect; one may be bad luck.
    package static let patience = 3
    package static let firstDelay = Duration.seconds(30)
    package static let longestDelay = Duration.seconds(300)

    /// - Parameter wall: For what people are told.
    package mutating func event(_ event: Event, of name: String, now: MonotonicTime, wall: WallTime) -> Action {
        if case .removed = event {
            links[name] = nil
            return .none
        }
        var link = links[name] ?? Link()
        defer { links[name] = link }
        switch event {
        case .unanswered(let host, let started):
            // Begun over the network that was.
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
            // Others that were under way when it became suspect.
            streak.add(host, wall)
            link.state = .suspect(streak, probeAt: probeAt, delay: delay)
        case .probing(var streak, let delay):
            streak.add(host, wall)
            let next = min(delay * 2, longestDelay)
            link.state = .suspect(streak, probeAt: now + next, delay: next)
        }
        return .none
    }

    /// - Returns: `nil` for a link that is as good as any.
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

    /// When a suspect link is to be tried the next time; `nil` while none is, or all are being tried.
    package var nextProbe: MonotonicTime? {
        links.values.compactMap { if case .suspect(_, let time, _) = $0.state { time } else { nil } }.min()
    }

    /// The links that one connection each is to be tried over now; every one ends in an event.
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
