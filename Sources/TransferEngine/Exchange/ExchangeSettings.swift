import TransferCore

/// The rules of one exchange.
public struct ExchangeSettings: Sendable, Hashable {
    public var timeouts = Timeouts()
    public var redirects = Redirects()
    public var sending = Sending()
    public var route = Route()
    public var receiving = Receiving()
    /// Whether ``ExchangeOutcome/hops`` are wanted.
    public var collectsHopMetrics = false
    public var tls = TLSRules.system
    public var credentials: Credentials = .none
    /// Whether connections leave room to whatever else goes over the same link (``/TransferCore/BackgroundPace``).
    public var isBackground = false
    /// For file servers only.
    public var files: FileServerSettings {
        get { givenFiles ?? FileServerSettings() }
        set { givenFiles = newValue }
    }
    /// Nothing to copy and to compare where there is none.
    private var givenFiles: FileServerSettings?

    public init() {}

    public enum Credentials: Sendable, Hashable {
        case none
        /// The entries of a `.netrc` file.
        case netrc(NetrcAccount)
        case password(user: String, password: String)
    }
}

extension ExchangeSettings.Credentials {
    /// The login at the request's own server; `nil` for nobody.
    public var login: (user: String, password: String)? {
        switch self {
        case .none: nil
        case .netrc(let account): account.own
        case .password(let user, let password): (user, password)
        }
    }
}

extension ExchangeSettings.Credentials: CustomStringConvertible {
    /// Without the password.
    public var description: String {
        switch self {
        case .none: "none"
        case .netrc: "netrc"
        case .password(let user, _): "\(user):\(Redaction.mark)"
        }
    }
}
