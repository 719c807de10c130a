import TransferCore

/// The rules of one exchange.
public struct ExchangeSettings: Sendable, Hashable {
    /// The bounds on time and silence.
    public var timeouts = Timeouts()
    /// The rules for redirects.
    public var redirects = Redirects()
    /// The rules for sending.
    public var sending = Sending()
    /// The route to the server.
    public var route = Route()
    /// The rules for receiving.
    public var receiving = Receiving()
    /// Whether ``ExchangeOutcome/hops`` are collected.
    public var collectsHopMetrics = false
    /// The rules for TLS servers.
    public var tls = TLSRules.system
    /// The credentials for the server.
    public var credentials: Credentials = .none
    /// Whether connections yield to other traffic on the same link (``/TransferCore/BackgroundPace``).
    public var isBackground = false
    /// The settings for file servers.
    public var files: FileServerSettings {
        get { givenFiles ?? FileServerSettings() }
        set { givenFiles = newValue }
    }
    /// The settings for file servers; `nil` for the default ones, which saves copies and comparisons.
    private var givenFiles: FileServerSettings?

    /// Creates the default settings.
    public init() {}

    /// The credentials for servers that ask for them.
    public enum Credentials: Sendable, Hashable {
        case none
        /// The entries of a `.netrc` file.
        case netrc(NetrcAccount)
        case password(user: String, password: String)
    }
}

extension ExchangeSettings.Credentials {
    /// The login at the request's own server; `nil` for none.
    public var login: (user: String, password: String)? {
        switch self {
        case .none: nil
        case .netrc(let account): account.own
        case .password(let user, let password): (user, password)
        }
    }
}

extension ExchangeSettings.Credentials: CustomStringConvertible {
    /// A text without the password.
    public var description: String {
        switch self {
        case .none: "none"
        case .netrc: "netrc"
        case .password(let user, _): "\(user):\(Redaction.mark)"
        }
    }
}
