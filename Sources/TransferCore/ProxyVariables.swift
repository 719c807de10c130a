/// The environment variables that select proxies, among those that curl reads.
public struct ProxyVariables: Sendable, Hashable {
    /// A variable with a value.
    public struct Variable: Sendable, Hashable {
        /// The variable's name.
        public let name: String
        /// The variable's value, including credentials where it has some.
        public let value: String

        /// Creates a variable.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The variable for `http` URLs.
    public var http: Variable?
    /// The variable for `https` URLs, and for those of file servers.
    public var https: Variable?
    /// The variable with the hosts that are reached without a proxy.
    public var exceptions: Variable?

    /// Creates a set of variables.
    public init(http: Variable? = nil, https: Variable? = nil, exceptions: Variable? = nil) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// A set without any variable.
    public static let none = ProxyVariables()

    /// Reads the variables as curl(1) does: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy` and the upper-case
    /// forms of the last three. The upper-case form of the first is ignored, since a CGI request can set it.
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
    /// Creates a rule from the proxies that these variables name.
    public init(_ variables: ProxyVariables) {
        self.init(
            http: variables.http?.value, https: variables.https?.value,
            exceptions: Self.list(variables.exceptions?.value ?? ""))
    }
}
