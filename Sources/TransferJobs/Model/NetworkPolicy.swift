import TransferCore

/// The rules by which a job uses the machine's links; nothing said allows everything.
///
/// A tunnel is what carries it too: a rule about `cellular` or `wwan*` holds for a VPN over a modem.
public struct NetworkPolicy: Sendable, Hashable {
    /// Only these links; empty allows all.
    public var allow: [LinkPattern] = []
    /// Used only when no other link is usable.
    public var avoid: [LinkPattern] = []
    /// Used first, in this order.
    public var prefer: [LinkPattern] = []
    /// The only way: nothing goes over another link, whatever happens.
    public var require: LinkPattern?
    /// `nil` is `allow`, or `avoid` where there is a `meteredAfter`.
    public var metered: Metered?
    /// What the metered links together may carry; none is no bound.
    public var meteredBudget: MeteredBudget?
    /// How long a job waits for an unmetered link before it takes a metered one that it's to avoid; zero by default.
    public var meteredAfter: Duration?
    public var schedule = Schedule()

    public init() {}

    public enum Metered: String, Sendable, Hashable, CaseIterable, Codable {
        case allow, avoid, forbid
    }

    /// No byte over a link that is paid for.
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

/// An amount of bytes for a period of the local calendar.
public struct MeteredBudget: Sendable, Hashable {
    public var bytes: Int64
    public var period: Period

    public init(bytes: Int64, per period: Period) {
        self.bytes = bytes
        self.period = period
    }

    public enum Period: String, Sendable, Hashable, CaseIterable {
        /// A week begins on Monday (ISO 8601).
        case hour, day, week, month
    }

    /// Reads `500M/day`.
    ///
    /// - Returns: `nil` when it's no such text, or no byte at all.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let period = Period(rawValue: String(parts[1])), let bytes = ByteCount.parse(parts[0]),
            bytes > 0
        else { return nil }
        self.init(bytes: bytes, per: period)
    }

    /// What `init(_:)` reads.
    public var text: String { "\(bytes)/\(period.rawValue)" }
}
