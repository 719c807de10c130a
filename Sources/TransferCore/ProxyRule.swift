/// The choice of the proxy for a URL, by the environment variables that curl reads or by the caller's settings.
public struct ProxyRule: Sendable, Hashable {
    /// The URL of the proxy for `http` URLs; `nil` for none.
    public var http: String?
    /// The URL of the proxy for `https` URLs and those of file servers; `nil` for none.
    public var https: String?
    /// The hosts that are reached without a proxy.
    public var exceptions: [String]

    /// Creates a rule; without arguments, no proxy is used.
    public init(http: String? = nil, https: String? = nil, exceptions: [String] = []) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// A rule without any proxy.
    public static let none = ProxyRule()

    /// Returns the proxies that these environment variables name, as ``init(environment:)`` does.
    public static func environment(_ variables: [String: String]) -> ProxyRule { ProxyRule(environment: variables) }

    /// Creates a rule from the proxies that ``ProxyVariables`` finds in an environment.
    public init(environment: [String: String]) { self.init(ProxyVariables(environment: environment)) }

    /// Splits a list of exceptions, separated by commas or blanks.
    public static func list(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// Whether all connections are direct.
    public var isEmpty: Bool { http == nil && https == nil }

    /// Returns the proxy's URL for this origin; `nil` for a direct connection.
    public func proxy(for origin: Origin) -> String? {
        guard let proxy = origin.scheme == "https" ? https : http, !proxy.isEmpty else { return nil }
        return isException(origin) ? nil : proxy
    }

    /// Returns the proxy's URL for a server without HTTP, which is reached through a tunnel.
    public func tunnel(for origin: Origin) -> String? {
        guard let https, !https.isEmpty else { return nil }
        return isException(origin) ? nil : https
    }

    /// Returns the proxy's URL for an origin of either kind.
    public func way(to origin: Origin) -> String? {
        origin.scheme == "http" || origin.scheme == "https" ? proxy(for: origin) : tunnel(for: origin)
    }

    private func isException(_ origin: Origin) -> Bool {
        guard !exceptions.isEmpty else { return false }
        let host = Self.withoutLastDot(origin.host[...])
        let address = IPAddress(host)
        return exceptions.contains { Self.matches($0, host, address, origin.port) }
    }

    /// Returns whether an exception matches: `*`, an address, a block of addresses, or a name, which includes its
    /// subdomains. Each may have a port, which requires brackets around an IPv6 address.
    private static func matches(_ exception: String, _ host: Substring, _ address: IPAddress?, _ port: Int) -> Bool {
        if exception == "*" { return true }
        if let block = CIDRBlock(exception) { return address.map(block.contains) ?? false }
        var (name, wanted) = ProxyAddress.split(exception[...], defaultPort: 0)
        guard wanted == 0 || wanted == port else { return false }
        if let block = CIDRBlock(name) { return address.map(block.contains) ?? false }
        if name.hasPrefix("*.") { name.removeFirst() }
        var domain = withoutLastDot(name[...])
        if domain.first == "." { domain = domain.dropFirst() }
        // The parts of an address are no domains.
        guard !domain.isEmpty else { return false }
        let own = HostName.comparable(domain)
        return host.asciiCaseInsensitiveEquals(own[...])
            || (address == nil && host.lowercased().hasSuffix("." + own))
    }

    /// Returns the name without a dot at its end, which denotes the root.
    private static func withoutLastDot(_ name: Substring) -> Substring {
        name.last == "." ? name.dropLast() : name
    }
}

extension ProxyRule: CustomStringConvertible {
    /// The rule without the proxies' credentials.
    public var description: String {
        let text = { (url: String?) in url.map { ProxyAddress($0).description } ?? "none" }
        return "http: \(text(http)), https: \(text(https)), exceptions: \(exceptions.joined(separator: ","))"
    }
}
