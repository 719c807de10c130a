import Glibc

/// Whether what goes over a link is counted and paid for.
///
/// The values are NetworkManager's `NMMetered`.
public enum Metering: String, Sendable, Hashable, CaseIterable {
    /// Nobody says.
    case unknown
    /// The user, or the network, says so.
    case yes
    case no
    /// By its kind: a modem, or a telephone that shares its connection.
    case guessedYes
    case guessedNo

    /// Whether to go easy on it.
    public var isMetered: Bool { self == .yes || self == .guessedYes }
}

/// The user's word on links: names of interfaces, with the wildcards `*`, `?` and `[…]` of fnmatch(3).
public struct MeteredRule: Sendable, Hashable {
    public var metered: [String]
    public var unmetered: [String]

    /// - Parameter unmetered: Where both have a link's name, this counts.
    public init(metered: [String] = [], unmetered: [String] = []) {
        self.metered = metered
        self.unmetered = unmetered
    }

    /// - Parameter links: Names of links, or patterns of names, and whether they are metered.
    public init(links: [String: Bool]) {
        metered = links.filter(\.value).keys.sorted()
        unmetered = links.filter { !$0.value }.keys.sorted()
    }

    /// - Returns: `unknown` where nothing is said.
    public func metering(of name: String) -> Metering {
        if unmetered.contains(where: { InterfaceName.matches(name, $0) }) { return .no }
        return metered.contains { InterfaceName.matches(name, $0) } ? .yes : .unknown
    }
}

/// Names of interfaces.
public enum InterfaceName {
    /// Whether a name is what a pattern stands for: `*`, `?` and `[…]` as in fnmatch(3).
    public static func matches(_ name: String, _ pattern: String) -> Bool { fnmatch(pattern, name, 0) == 0 }
}

/// How far NetworkManager's probe of the Internet gets (its `Connectivity` property).
public enum Connectivity: String, Sendable, Hashable, CaseIterable {
    /// Nobody says: NetworkManager isn't there, or doesn't probe.
    case unknown
    case none
    /// A captive portal answers in the Internet's place.
    case portal
    /// There is a network, and no way out of it.
    case limited
    case full
}
