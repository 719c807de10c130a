import TransferCore

/// The rules for a job's use of the machine's links; without rules, all links are allowed.
///
/// A tunnel also counts as the link that carries it: a rule about `cellular` or `wwan*` applies to a VPN over a modem.
public struct NetworkPolicy: Sendable, Hashable {
    /// The only links that may be used; empty allows all.
    public var allow: [LinkPattern] = []
    /// The links that are used only where no other is usable.
    public var avoid: [LinkPattern] = []
    /// The links that are used first, in this order.
    public var prefer: [LinkPattern] = []
    /// The only link that may ever be used; `nil` for no such rule.
    public var require: LinkPattern?
    /// The use of metered links; `nil` means `allow`, or `avoid` where ``meteredAfter`` is set.
    public var metered: Metered?
    /// The number of bytes that all metered links together may carry; `nil` for no limit.
    public var meteredBudget: MeteredBudget?
    /// The time that a job waits for an unmetered link before it uses a metered one that it should avoid; zero by
    /// default.
    public var meteredAfter: Duration?
    /// The times at which the job may run.
    public var schedule = Schedule()

    /// Creates a policy without rules.
    public init() {}

    /// The use of metered links: without restriction, only where no other link is usable, or never.
    public enum Metered: String, Sendable, Hashable, CaseIterable, Codable {
        case allow, avoid, forbid
    }

    /// A policy that forbids metered links.
    public static var unmetered: NetworkPolicy {
        var policy = NetworkPolicy()
        policy.metered = .forbid
        return policy
    }

    package var effectiveMetered: Metered { metered ?? (meteredAfter == nil ? .allow : .avoid) }
}

/// The keys of `network` in a job file.
public enum NetworkKey: String, Sendable, Hashable, CaseIterable {
    case allow, avoid, prefer, require, metered, meteredBudget, meteredAfter, schedule

    package static let table = KeyTable(allCases)
}

/// A number of bytes for each period of the local calendar.
public struct MeteredBudget: Sendable, Hashable {
    /// The number of bytes, above 0.
    public var bytes: Int64
    /// The period after which the budget starts anew.
    public var period: Period

    /// Creates a budget of a number of bytes for each period.
    public init(bytes: Int64, per period: Period) {
        self.bytes = bytes
        self.period = period
    }

    /// A period of the local calendar.
    public enum Period: String, Sendable, Hashable, CaseIterable {
        /// A period of the calendar; weeks begin on Monday (ISO 8601).
        case hour, day, week, month
    }

    /// Parses a text such as `500M/day`.
    ///
    /// - Returns: `nil` for any other text, or for less than one byte.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let period = Period(rawValue: String(parts[1])), let bytes = ByteCount.parse(parts[0]),
            bytes > 0
        else { return nil }
        self.init(bytes: bytes, per: period)
    }

    /// The text that `init(_:)` reads.
    public var text: String { "\(bytes)/\(period.rawValue)" }
}
