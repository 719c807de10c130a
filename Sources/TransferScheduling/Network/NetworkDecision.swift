package import TransferJobs

/// The decision on the links that a job uses.
package enum NetworkDecision: Sendable, Hashable {
    /// The kernel chooses: all links with a default route are equally good.
    case anyLink
    /// The job uses one of these links, the best first.
    ///
    /// - Parameter mustBind: Whether a link is unusable if no connection can be bound to it; otherwise binding is only
    ///   preferred.
    case use([String], mustBind: Bool)
    case wait(NetworkWait)
}

/// The condition that a job waits for.
package enum NetworkWait: Sendable, Hashable {
    /// The job's schedule has to open, at this time; `nil` if it never opens.
    case closed(until: WallTime?)
    /// Any link with a default route has to appear.
    case offline
    /// The required link does not exist.
    case missing(LinkPattern)
    /// The required link has no default route now.
    case down(String)
    /// The kernel cannot list the links, and the rule does not name a single one.
    case unseen(LinkPattern)
    /// A link that `allow` contains has to be usable.
    case notAllowed
    /// An unmetered link has to be usable.
    case metered
    /// An unmetered link has to be usable; after this time a metered one will do.
    case meteredNotYet(until: WallTime)
    /// The next period of the budget has to begin.
    case budget(until: WallTime)
    /// A host has to answer over one of these links.
    case unanswered([String])

    /// Whether hosts on the local network may be reached meanwhile, because the wait is for a link with a default
    /// route.
    package var isForWayOut: Bool {
        switch self {
        case .closed, .unseen, .unanswered: false
        case .offline, .missing, .down, .notAllowed, .metered, .meteredNotYet, .budget: true
        }
    }

    /// The latest time at which the wait ends, if time ends it.
    package var until: WallTime? {
        switch self {
        case .closed(let until): until
        case .meteredNotYet(let until), .budget(let until): until
        case .offline, .missing, .down, .unseen, .notAllowed, .metered, .unanswered: nil
        }
    }
}

/// The rules' verdict on one link.
package struct LinkVerdict: Sendable, Hashable {
    package var link: LinkView
    package var standing: Standing

    package enum Standing: Sendable, Hashable {
        case unusable
        case refused(Refusal)
        case usable(Tier)
    }

    /// The rule that forbids a link, at least for now.
    package enum Refusal: Sendable, Hashable {
        case notRequired, notAllowed, metered
        case meteredNotYet(until: WallTime)
        case budget(until: WallTime)

        package var key: NetworkKey {
            switch self {
            case .notRequired: .require
            case .notAllowed: .allow
            case .metered: .metered
            case .meteredNotYet: .meteredAfter
            case .budget: .meteredBudget
            }
        }
    }

    /// The preference of a usable link. Links of a lower tier are used only if there is none of a higher tier.
    package enum Tier: Int, Sendable, Hashable, Comparable {
        case good, avoided, metered, suspect

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}

/// A decision with the verdicts that led to it.
package struct NetworkJudgement: Sendable, Hashable {
    package var decision: NetworkDecision
    /// The verdicts in the order of the given links; empty if no link is known.
    package var verdicts: [LinkVerdict]

    package var isOutsideSchedule: Bool {
        if case .wait(.closed) = decision { true } else { false }
    }

    /// The rules that keep a waiting job from starting.
    package var rules: [NetworkKey] {
        guard case .wait(let wait) = decision else { return [] }
        var keys: [NetworkKey] = []
        switch wait {
        case .closed: return [.schedule]
        case .missing, .down, .unseen: keys.append(.require)
        case .offline, .notAllowed, .metered, .meteredNotYet, .budget, .unanswered: break
        }
        for verdict in verdicts where verdict.link.isUsable {
            guard case .refused(let refusal) = verdict.standing, !keys.contains(refusal.key) else { continue }
            keys.append(refusal.key)
        }
        return keys
    }
}
