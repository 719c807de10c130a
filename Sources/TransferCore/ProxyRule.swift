/// The choice of the proxy that a URL goes through, by the environment variables that curl reads or by what the caller
/// sets.
public struct ProxyRule: Sendable, Hashable {
    public var http: String?
    public var https: String?
    /// Hosts that are reached without a proxy.
    public var exceptions: [String]

    public init(http: String? = nil, https: String? = nil, exceptions: [String] = []) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    public static let none = ProxyRule()

    /// The proxies that these environment variables name; ``init(environment:)``.
    public static func environment(_ variables: [String: String]) -> ProxyRule { ProxyRule(environment: variables) }

    /// The proxies that ``ProxyVariables`` finds in an environment.
    public init(environment: [String: String]) { self.init(ProxyVariables(environment: environment)) }

    /// Splits a comma-separated list of exceptions.
    public static func list(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// Whether everything goes straight.
    public var isEmpty: Bool { http == nil && https == nil }

    /// The proxy's URL for this origin, or `nil` to go straight there.
    public func proxy(for origin: Origin) -> String? {
        guard let proxy = origin.scheme == "https" ? https : http, !proxy.isEmpty else { return nil }
        return isException(origin) ? nil : proxy
    }

    /// The proxy's URL for a server that speaks something else than HTTP, and is reached through a tunnel.
    public func tunnel(for origin: Origin) -> String? {
        guard let https, !https.isEmpty else { return nil }
        return isException(origin) ? nil : https
    }

    /// The proxy's URL for an origin of either kind.
    public func way(to origin: Origin) -> String? {
        origin.scheme == "http" || origin.scheme == "https" ? proxy(for: origin) : tunnel(for: origin)
    }

    private func isException(_ origin: Origin) -> Bool {
        guard !exceptions.isEmpty else { return false }
        let host = Self.withoutLastDot(origin.host[...])
        let address = IPAddress(host)
        return exceptions.contains { Self.matches($0, host, address, origin.port) }
    }

    /// `*`, an address, a block of addresses, or a name, which stands for what lies below it too; each perhaps with a
    /// port. A port needs brackets around an IPv6 address.
    private static func matches(_ exception: String, _ host: Substring, _ address: IPAddress?, _ port: Int) -> Bool {
        if exception == "*" { return true }
        if let block = CIDRBlock(exception) { return address.map(block.contains) ?? false }
        var (name, wanted) = ProxyAddress.split(exception[...], defaultPort: 0)
        guard wanted == 0 || wanted == port else { return false }
        if let block = CIDRBlock(name) { return address.map(block.contains) ?? false }
        if name.hasPrefix("*.") { name.removeFirst() }
        var domain = withoutLastDot(name[...])
        if domain.first == "." { domain = domain.dropFirst() }
        // Parts of an address are no domain.
        guard !domain.isEmpty else { return false }
        let own = HostName.comparable(domain)
        return host.asciiCaseInsensitiveEquals(own[...])
            || (address == nil && host.lowercased().hasSuffix("." + own))
    }

    /// `host.` is `host`, from the root.
    private static func withoutLastDot(_ name: Substring) -> Substring {
        name.last == "." ? name.dropLast() : name
    }
}

extension ProxyRule: CustomStringConvertible {
    /// Without the proxies' credentials.
    public var description: String {
        let text = { (url: String?) in url.map { ProxyAddress($0).description } ?? "none" }
        return "http: \(text(http)), https: \(text(https)), exceptions: \(exceptions.joined(separator: ","))"
    }
}
