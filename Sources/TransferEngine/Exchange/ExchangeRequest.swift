public import TransferCore

/// What one exchange is to do: a request, what is expected of its answer, and the rules it runs under.
public struct ExchangeRequest: Sendable {
    /// An absolute `http` or `https` URL, without userinfo.
    public var url: String
    public var method: String
    /// In the order they are sent; a field that appears here replaces the one libcurl would make.
    public var headers: [HeaderField]
    public var body: RequestBody
    public var intent: Intent
    public var settings: ExchangeSettings

    public init(
        url: String, method: String = "GET", headers: [HeaderField] = [], body: RequestBody = .none,
        intent: Intent = .message, settings: ExchangeSettings = ExchangeSettings()
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.intent = intent
        self.settings = settings
    }

    public enum Intent: Sendable {
        /// Any final answer is a success and its body is delivered.
        case message
        /// Only the file itself is wanted (200 or 206): other statuses are failures and their bodies are dropped.
        case representation(ResumePoint?)
    }
}

/// Where and by what a download goes on.
public struct ResumePoint: Sendable, Hashable {
    /// Bytes that are there; above 0.
    public var offset: Int64
    /// `nil` for bytes of another mirror, whose validators mean nothing here.
    public var validator: Validator?
    public var total: Int64?
    /// Whether a digest of the whole file will be checked, so that bytes of another mirror may be continued without a
    /// validator: a mix can't pass.
    public var isVerifiedByDigest: Bool

    public init(offset: Int64, validator: Validator?, total: Int64?, isVerifiedByDigest: Bool = false) {
        self.offset = offset
        self.validator = validator
        self.total = total
        self.isVerifiedByDigest = isVerifiedByDigest
    }
}

/// The body of a request.
public enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    case file(SourceFile)

    /// Bytes, or `nil` when not known beforehand.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.size
        }
    }

    public var isEmpty: Bool {
        if case .none = self { return true }
        return false
    }
}

/// The rules of one exchange.
public struct ExchangeSettings: Sendable, Hashable {
    /// TLS included.
    public var connectTimeout: Duration = .seconds(30)
    /// A transfer that moves less than `lowSpeedRate` bytes a second for this long has stalled.
    public var lowSpeedTime: Duration = .seconds(60)
    /// Bytes a second; at least 1.
    public var lowSpeedRate: Int64 = 1
    /// The longest an exchange may take, redirects included; `nil` is for ever.
    public var maxTime: Duration?
    /// Redirects followed; more are an error. 0 makes the first one an error.
    public var maxRedirects = 10
    /// The proxy's URL; `nil` goes straight.
    public var proxy: String?
    public var tls = TLSOptions()
    public var credentials: Credentials = .none

    public init() {}

    public struct TLSOptions: Sendable, Hashable {
        /// PEM file of the only authorities to trust.
        public var authorities: String?
        public var certificate: String?
        public var key: String?
        /// `sha256/BASE64` of the public keys, one of which the server must have.
        public var pins: [String] = []
        public init() {}
    }

    public enum Credentials: Sendable, Hashable {
        case none
        /// The user's .netrc.
        case netrc
        case password(user: String, password: String)
    }
}
