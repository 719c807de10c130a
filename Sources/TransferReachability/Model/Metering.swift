import Glibc

/// The statement whether a link's traffic is counted and paid for.
///
/// The values are those of NetworkManager's `NMMetered`.
public enum Metering: String, Sendable, Hashable, CaseIterable {
    /// No source states anything.
    case unknown
    /// The user, or the network, states that the link is metered.
    case yes
    case no
    /// The link's kind suggests that it is metered: a modem, or a telephone that shares its connection.
    case guessedYes
    case guessedNo

    /// Whether traffic on the link should be limited.
    public var isMetered: Bool { self == .yes || self == .guessedYes }
}

/// The user's statements about links: names of interfaces, with the wildcards `*`, `?` and `[…]` of fnmatch(3).
public struct MeteredRule: Sendable, Hashable {
    /// The patterns of metered links.
    public var metered: [String]
    /// The patterns of unmetered links.
    public var unmetered: [String]

    /// Creates a rule.
    ///
    /// - Parameter unmetered: The patterns of unmetered links, which take precedence.
    public init(metered: [String] = [], unmetered: [String] = []) {
        self.metered = metered
        self.unmetered = unmetered
    }

    /// Creates a rule.
    ///
    /// - Parameter links: The names of links, or patterns of names, and whether they are metered.
    public init(links: [String: Bool]) {
        metered = links.filter(\.value).keys.sorted()
        unmetered = links.filter { !$0.value }.keys.sorted()
    }

    /// Returns the statement about a link.
    ///
    /// - Returns: The value `unknown` where no pattern matches.
    public func metering(of name: String) -> Metering {
        if unmetered.contains(where: { InterfaceName.matches(name, $0) }) { return .no }
        return metered.contains { InterfaceName.matches(name, $0) } ? .yes : .unknown
    }
}

/// Functions for names of interfaces.
public enum InterfaceName {
    /// Returns whether a name matches a pattern with `*`, `?` and `[…]` as in fnmatch(3).
    public static func matches(_ name: String, _ pattern: String) -> Bool { fnmatch(pattern, name, 0) == 0 }
}

/// The result of NetworkManager's probe of the Internet (its `Connectivity` property).
public enum Connectivity: String, Sendable, Hashable, CaseIterable {
    /// No result exists: NetworkManager is not running, or does not probe.
    case unknown
    case none
    /// A captive portal answers instead of the Internet.
    case portal
    /// There is a network, but no route out of it.
    case limited
    case full
}
