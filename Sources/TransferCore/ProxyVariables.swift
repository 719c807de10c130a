/// The variables of an environment that say which proxies are used, of those that curl reads.
public struct ProxyVariables: Sendable, Hashable {
    /// One that is set.
    public struct Variable: Sendable, Hashable {
        public let name: String
        /// As it's set, with credentials where it has some.
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The one for `http` URLs.
    public var http: Variable?
    /// The one for `https` URLs, and for those of file servers.
    public var https: Variable?
    /// The one that names the hosts which are reached without a proxy.
    public var exceptions: Variable?

    public init(http: Variable? = nil, https: Variable? = nil, exceptions: Variable? = nil) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    public static let none = ProxyVariables()

    /// Looks for `http_proxy` (lower case only: a CGI request can set the other), `https_proxy`, `all_proxy`, `no_proxy`
    /// and the upper-case forms of the last three, as curl(1) does.
    public init(environment: [String: String]) {
        func first(_ names: String...) -> Variable? {
            for name in names {
                if let value = environment[name], !value.isEmpty { return Variable(name: name, value: value) }
            }
            return nil
        }
        let all = first("all_proxy", "ALL_PROXY")
        self.init(
            http: first("http_proxy") ?? all, https: first("https_proxy", "HTTPS_PROXY") ?? all,
            exceptions: first("no_proxy", "NO_PROXY"))
    }
}

extension ProxyRule {
    /// The proxies that these variables name.
    public init(_ variables: ProxyVariables) {
        self.init(
            http: variables.http?.value, https: variables.https?.value,
            exceptions: Self.list(variables.exceptions?.value ?? ""))
    }
}
