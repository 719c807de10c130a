package import TransferJobs

/// The way that a job goes.
package enum NetworkDecision: Sendable, Hashable {
    /// As the kernel routes: every link that leads out is as good.
    case anyLink
    /// Over one of these, the best first.
    ///
    /// - Parameter mustBind: Whether a link that a connection can't be bound to is no way; otherwise binding is a wish.
    case use([String], mustBind: Bool)
    case wait(NetworkWait)
}

/// The thing that a job waits for.
package enum NetworkWait: Sendable, Hashable {
    /// The job's schedule; until it opens, if it ever does.
    case closed(until: WallTime?)
    /// Any link that leads out.
    case offline
    /// The link that it requires and that isn't there.
    case missing(LinkPattern)
    /// The link that it requires, which leads nowhere now.
    case down(String)
    /// The kernel can't be asked which links there are, and the rule names no single one.
    case unseen(LinkPattern)
    /// A link that `allow` has.
    case notAllowed
    /// A link that isn't metered.
    case metered
    /// An unmetered link, until it takes a metered one.
    case meteredNotYet(until: WallTime)
    /// The next period of its budget.
    case budget(until: WallTime)
    /// An answer over one of these.
    case unanswered([String])

    /// Whether a host on the machine's own network may be reached meanwhile: the wait is for a link that leads out.
    package var isForWayOut: Bool {
        switch self {
        case .closed, .unseen, .unanswered: false
        case .offline, .missing, .down, .notAllowed, .metered, .meteredNotYet, .budget: true
        }
    }

    /// When it's over at the latest, if time ends it.
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

    /// Links of a lower tier are used only when there is none of a higher one.
    package enum Tier: Int, Sendable, Hashable, Comparable {
        case good, avoided, metered, suspect

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}

/// A decision, and how it came about.
package struct NetworkJudgement: Sendable, Hashable {
    package var decision: NetworkDecision
    /// In the order in which the links were given; empty when none is known.
    package var verdicts: [LinkVerdict]

    package var isOutsideSchedule: Bool {
        if case .wait(.closed) = decision { true } else { false }
    }

    /// The rules that a job which waits is kept by.
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
