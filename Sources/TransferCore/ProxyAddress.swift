/// The parts of a proxy's URL: the scheme (`http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`), the host, the
/// port, and optional credentials.
public struct ProxyAddress: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case; `http` where the URL names none.
    public let scheme: String
    /// The host in ASCII and lower case (``HostName``), without brackets around an IPv6 address.
    public let host: String
    /// The port as written, or else 443 for `https` and 1080 for all others (CURLOPT_PROXY(3)).
    public let port: Int
    /// Whether the URL contains credentials.
    public let hasCredentials: Bool

    /// Parses a proxy's URL, which may lack a scheme.
    public init(_ url: some StringProtocol) {
        var rest = Substring(url)
        if let mark = rest.range(of: "://") {
            scheme = rest[..<mark.lowerBound].lowercased()
            rest = rest[mark.upperBound...]
        } else {
            scheme = "http"
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let at = rest.lastIndex(of: "@")
        hasCredentials = at != nil
        if let at { rest = rest[rest.index(after: at)...] }
        let (name, port) = Self.split(rest, defaultPort: scheme == "https" ? 443 : 1080)
        host = HostName.comparable(name)
        self.port = port
    }

    /// Returns the URL for libcurl, with a scheme and with the host in ASCII.
    ///
    /// - Throws: `HostName.Fault` for a host without an ASCII form.
    public static func canonical(_ url: String) throws(HostName.Fault) -> String {
        if url.utf8.allSatisfy({ $0 < 0x80 }) { return url }
        return try URLSpelling.canonical(url.range(of: "://") == nil ? "http://" + url : url)
    }

    /// Returns a proxy's URL with credentials inserted.
    ///
    /// - Parameter userinfo: The credentials as `user:password`, percent-encoded.
    public static func url(_ url: String, userinfo: String) -> String {
        guard let mark = url.range(of: "://") else { return "http://\(userinfo)@\(url)" }
        return "\(url[..<mark.upperBound])\(userinfo)@\(url[mark.upperBound...])"
    }

    /// The URL without credentials.
    public var description: String {
        "\(scheme)://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
    }

    /// Whether the proxy itself resolves the names of servers (RFC 1928 §4, SOCKS 4A).
    public var looksUpNames: Bool { scheme != "socks5" && scheme != "socks4" }

    /// Splits `host:port` and `[address]:port`.
    static func split(_ text: Substring, defaultPort: Int) -> (host: String, port: Int) {
        if text.first == "[", let close = text.firstIndex(of: "]") {
            let port = text[close...].dropFirst(2)
            return (text[..<close].dropFirst().lowercased(), Int(port) ?? defaultPort)
        }
        guard let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon else {
            return (text.lowercased(), defaultPort)
        }
        return (text[..<colon].lowercased(), Int(text[text.index(after: colon)...]) ?? defaultPort)
    }
}
