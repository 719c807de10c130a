public import TransferCore

/// What one exchange is to do: a request, what is expected of its answer, and the rules it runs under.
///
/// It goes through many hands, from thread to thread; a copy costs one count.
public struct ExchangeRequest: Sendable {
    @Shared private var fields: Fields

    public init(
        url: String, method: String = "GET", headers: [HeaderField] = [], body: RequestBody = .none,
        intent: Intent = .message, settings: ExchangeSettings = ExchangeSettings()
    ) {
        self.init(
            url: url, method: method, headers: headers, body: body, intent: intent,
            settings: Shared(wrappedValue: settings))
    }

    /// - Parameter settings: Those of other requests too.
    public init(
        url: String, method: String = "GET", headers: [HeaderField] = [], body: RequestBody = .none,
        intent: Intent = .message, settings: Shared<ExchangeSettings>, fragment: String? = nil,
        cookies: (any CookieJar)? = nil
    ) {
        fields = Fields(
            url: url, fragment: fragment, method: method, headers: headers, body: body, intent: intent,
            settings: settings, cookies: cookies)
    }

    /// An absolute URL without userinfo: `http`, `https`, or of a file server (`ftp`, `ftps`, `sftp`), which takes
    /// `HEAD`, `GET`, `PUT`, `PATCH` (with the field Upload-Offset), `DELETE`, `MOVE` and `MKCOL` and answers as an
    /// HTTP server would.
    public var url: String {
        _read { yield fields.url }
        _modify { yield &fields.url }
    }

    /// What stands behind `#`: never sent, and inherited by redirects without one (RFC 9110 §10.2.2).
    public var fragment: String? {
        _read { yield fields.fragment }
        _modify { yield &fields.fragment }
    }

    public var method: String {
        _read { yield fields.method }
        _modify { yield &fields.method }
    }

    /// In the order they are sent; a field that appears here replaces the one that would be made.
    public var headers: [HeaderField] {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    public var body: RequestBody {
        _read { yield fields.body }
        _modify { yield &fields.body }
    }

    public var intent: Intent {
        _read { yield fields.intent }
        _modify { yield &fields.intent }
    }

    public var settings: ExchangeSettings {
        _read { yield fields.settings.wrappedValue }
        _modify { yield &fields.settings.wrappedValue }
    }

    /// Whether `ExchangeHandle.decide(_:)` is waited for before a redirect is followed.
    public var asksBeforeRedirects: Bool {
        _read { yield fields.asksBeforeRedirects }
        _modify { yield &fields.asksBeforeRedirects }
    }

    public var authentication: ExchangeAuthentication {
        _read { yield fields.authentication }
        _modify { yield &fields.authentication }
    }

    /// Gives and takes the cookies of every hop; `nil` leaves both alone.
    public var cookies: (any CookieJar)? {
        _read { yield fields.cookies }
        _modify { yield &fields.cookies }
    }

    /// The version that is there whole; `nil` asks for the file without a condition.
    public var held: HeldVersion? {
        _read { yield fields.held }
        _modify { yield &fields.held }
    }

    /// What requests of one configuration have in common.
    var sharedSettings: Shared<ExchangeSettings> { fields.settings }

    private struct Fields: Sendable {
        var url: String
        var fragment: String?
        var method: String
        var headers: [HeaderField]
        var body: RequestBody
        var intent: Intent
        var settings: Shared<ExchangeSettings>
        var asksBeforeRedirects = false
        var authentication = ExchangeAuthentication()
        var cookies: (any CookieJar)?
        var held: HeldVersion?
    }

    public enum Intent: Sendable {
        /// Any final answer is a success and its body is delivered.
        case message
        /// Only the file itself is wanted (200 or 206): other statuses are failures and their bodies are dropped.
        case representation(ResumePoint?)
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
    /// The longest time without a byte in either direction, in place of the low-speed rule; a transfer that somebody
    /// holds back isn't measured. 50 ms are the finest that is told apart.
    public var idleTimeout: Duration?
    /// The longest an exchange may take, redirects included; `nil` is for ever.
    public var maxTime: Duration?
    /// Redirects followed; more are an error. 0 makes the first one an error.
    public var maxRedirects = 10
    /// Whether redirects are followed at all; otherwise such an answer is the final one, which is an error where a
    /// representation was asked for.
    public var followsRedirects = true
    /// Whether a redirect is followed that turns the request into another: 303, and 301 and 302 of POST (RFC 9110 §15.4).
    /// Otherwise such an answer is the final one, where any answer is.
    public var turnsRequests = true
    /// The rule for a body that only the end of its connection ends, where a representation is wanted.
    public var openEnd = OpenEnd.taken
    /// How much of the body of an answer that is an error is kept (``ExchangeOutcome/answer``); bytes.
    public var keptOfRefusals = 0
    /// Whether the body of an idempotent request is sent again, over a new connection, when one that had been used before
    /// turns out to be dead before any answer (RFC 9110 §9.2.2; a server may have read the first body). Requests that
    /// aren't idempotent (POST, PATCH) are never sent again by themselves.
    public var resendsBody = true
    /// Whether a body of up to 16 KiB leaves together with the head, in one write: half the work for both ends. Its
    /// progress is known with the answer only.
    public var joinsSmallBodies = false
    /// Whether a long body, of more than 64 KiB or an unknown length, waits up to a second for the server's 100
    /// (RFC 9110 §10.1.1), so that a refusal costs nothing.
    public var expectsContinue = true
    /// The ways to go; each hop's own, as a redirect may lead where another one holds.
    public var proxies = ProxyRule.none
    /// The URL of one proxy for everything; `nil` goes straight.
    public var proxy: String? {
        get { proxies.https }
        set { proxies = ProxyRule(http: newValue, https: newValue) }
    }
    /// A PEM file of the only authorities to trust for a proxy's own certificate; `nil` trusts the system's.
    public var proxyAuthorities: String?
    /// A socket file that everything goes through; no names are looked up then, and no proxy is used.
    public var unixSocket: String?
    /// The link (`wg0`) that everything of the exchange goes over, its name look-ups included; `nil`: the kernel's
    /// choice. Where it isn't there the exchange fails: nothing ever goes another way. What doesn't leave this machine
    /// (loopback addresses, Unix sockets) isn't bound.
    public var link: String?
    /// The most that is read from the network at once; bytes, 1 KiB to 512 KiB. What a sink that isn't ready leaves
    /// in memory grows with it.
    public var receiveBufferSize = 512 << 10
    /// Whether a coded answer is decoded, where its codings are known; only for `.message`.
    public var decodes = false
    /// Bytes that a decoded answer may have; more is an error. `nil` for no bound.
    public var maxDecodedLength: Int64?
    /// Whether ``ExchangeOutcome/hops`` are wanted.
    public var collectsHopMetrics = false
    public var tls = TLSRules.system
    public var credentials: Credentials = .none
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
        /// Those of a `.netrc` file.
        case netrc(NetrcAccount)
        case password(user: String, password: String)
    }
}

extension ExchangeSettings.Credentials {
    /// Who logs in at the request's own server; `nil` for nobody.
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
