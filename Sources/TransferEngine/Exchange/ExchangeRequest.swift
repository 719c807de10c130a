public import TransferCore

/// The order of one exchange: a request, what is expected of its answer, and the rules it runs under.
///
/// A request goes through many hands, from thread to thread; a copy costs one count.
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

    /// The text behind `#`: never sent, and inherited by redirects without one (RFC 9110 §10.2.2).
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

    /// The complete file whose place the answer is to take; `nil` where there is none, or where its owner gave it up.
    public var replaced: HeldFile? {
        _read { yield fields.replaced }
        _modify { yield &fields.replaced }
    }

    /// The settings that requests of one configuration have in common.
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
        var replaced: HeldFile?
    }

    public enum Intent: Sendable {
        /// Any final answer is a success and its body is delivered.
        case message
        /// Only the file itself is wanted (200 or 206): other statuses are failures and their bodies are dropped.
        case representation(ResumePoint?)
    }
}
