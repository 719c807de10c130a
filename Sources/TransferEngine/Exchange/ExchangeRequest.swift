public import TransferCore

/// The order of one exchange: a request, the expected kind of answer, and the rules of the exchange.
///
/// A request is passed on many times, from thread to thread; a copy only increments one reference count.
public struct ExchangeRequest: Sendable {
    @Shared private var fields: Fields

    /// Creates a request with settings of its own.
    public init(
        url: String, method: String = "GET", headers: [HeaderField] = [], body: RequestBody = .none,
        intent: Intent = .message, settings: ExchangeSettings = ExchangeSettings()
    ) {
        self.init(
            url: url, method: method, headers: headers, body: body, intent: intent,
            settings: Shared(wrappedValue: settings))
    }

    /// Creates a request with shared settings.
    ///
    /// - Parameter settings: The settings, which other requests may share.
    public init(
        url: String, method: String = "GET", headers: [HeaderField] = [], body: RequestBody = .none,
        intent: Intent = .message, settings: Shared<ExchangeSettings>, fragment: String? = nil,
        cookies: (any CookieJar)? = nil
    ) {
        fields = Fields(
            url: url, fragment: fragment, method: method, headers: headers, body: body, intent: intent,
            settings: settings, cookies: cookies)
    }

    /// The absolute URL without userinfo: `http`, `https`, or of a file server (`ftp`, `ftps`, `sftp`).
    ///
    /// A file server takes `HEAD`, `GET`, `PUT`, `PATCH` (with the field Upload-Offset), `DELETE`, `MOVE` and `MKCOL`,
    /// and its answers look like those of an HTTP server.
    public var url: String {
        _read { yield fields.url }
        _modify { yield &fields.url }
    }

    /// The text behind `#`. It is never sent, and redirects without a fragment inherit it (RFC 9110 §10.2.2).
    public var fragment: String? {
        _read { yield fields.fragment }
        _modify { yield &fields.fragment }
    }

    /// The method.
    public var method: String {
        _read { yield fields.method }
        _modify { yield &fields.method }
    }

    /// The header fields in the order in which they are sent. A field here replaces the one that would be made.
    public var headers: [HeaderField] {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    /// The body.
    public var body: RequestBody {
        _read { yield fields.body }
        _modify { yield &fields.body }
    }

    /// The expected kind of answer.
    public var intent: Intent {
        _read { yield fields.intent }
        _modify { yield &fields.intent }
    }

    /// The rules of the exchange.
    public var settings: ExchangeSettings {
        _read { yield fields.settings.wrappedValue }
        _modify { yield &fields.settings.wrappedValue }
    }

    /// Whether the exchange waits for `ExchangeHandle.decide(_:)` before it follows a redirect.
    public var asksBeforeRedirects: Bool {
        _read { yield fields.asksBeforeRedirects }
        _modify { yield &fields.asksBeforeRedirects }
    }

    /// The handling of challenges.
    public var authentication: ExchangeAuthentication {
        _read { yield fields.authentication }
        _modify { yield &fields.authentication }
    }

    /// The store that gives and takes the cookies of every hop; `nil` neither sends nor stores cookies.
    public var cookies: (any CookieJar)? {
        _read { yield fields.cookies }
        _modify { yield &fields.cookies }
    }

    /// The version of a complete file that exists already; `nil` asks for the file without a condition.
    public var held: HeldVersion? {
        _read { yield fields.held }
        _modify { yield &fields.held }
    }

    /// The complete file that the answer is to replace; `nil` where there is none, or where the user gave it up.
    public var replaced: HeldFile? {
        _read { yield fields.replaced }
        _modify { yield &fields.replaced }
    }

    /// The receiver of the lines of every head as they came, from the status line to the empty line, on the loop;
    /// `nil` for none.
    package var onHeadLine: (@Sendable (UnsafeRawBufferPointer) -> Void)? {
        _read { yield fields.onHeadLine }
        _modify { yield &fields.onHeadLine }
    }

    /// The settings that requests of one configuration share.
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
        var onHeadLine: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    }

    /// The expected kind of answer.
    public enum Intent: Sendable {
        /// A message: any final answer is a success, and its body is delivered.
        case message
        /// A file (200 or 206): other statuses are failures, and their bodies are dropped.
        case representation(ResumePoint?)
    }
}
