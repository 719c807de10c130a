/// Which proxy a URL goes through, by the environment variables that curl reads or by what the caller sets.
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

    /// Reads `http_proxy` (lower case only: a CGI request can set the other), `https_proxy`, `all_proxy`, `no_proxy`
    /// and the upper-case forms of the last three, as curl(1) does.
    public init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        self.init(
            http: value("http_proxy") ?? all, https: value("https_proxy", "HTTPS_PROXY") ?? all,
            exceptions: Self.list(value("no_proxy", "NO_PROXY") ?? ""))
    }

    /// Splits a comma-separated list of exceptions.
    public static func list(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// The proxy's URL for this origin, or `nil` to go straight there.
    public func proxy(for origin: Origin) -> String? {
        guard let proxy = origin.scheme == "https" ? https : http, !proxy.isEmpty else { return nil }
        return isException(origin.host) ? nil : proxy
    }

    private func isException(_ host: String) -> Bool {
        exceptions.contains { exception in
            if exception == "*" { return true }
            if let block = CIDRBlock(exception), let address = IPAddress(host) { return block.contains(address) }
            let domain = exception.hasPrefix(".") ? exception.dropFirst() : exception[...]
            return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
        }
    }
}
