import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension ExchangeRequest {
    /// Makes the exchange that a URL request of a session asks for.
    ///
    /// - Parameter body: A body that replaces the request's own.
    /// - Throws: `AFError` for a request that cannot be sent.
    init(
        _ request: URLRequest, of session: Session, body: RequestBody? = nil
    ) throws {
        guard let url = request.url else { throw AFError.invalidURL(url: "") }
        var plain = URLSpelling.canonicalIfPossible(url.absoluteString)
        // A `URLProtocol` of the program may carry any scheme.
        guard Origin(url: plain) != nil || session.protocols != nil else { throw Self.unsupported(plain) }
        var credentials = ExchangeSettings.Credentials.none
        if plain.utf8Offset(of: UInt8(ascii: "@")) != nil, let user = url.user,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        {
            // The engine accepts no userinfo, as it would appear in logs and Referer fields.
            credentials = .password(
                user: user.removingPercentEncoding ?? user,
                password: url.password.map { $0.removingPercentEncoding ?? $0 } ?? "")
            components.user = nil
            components.password = nil
            plain = components.string ?? plain
        }
        var fragment: String?
        if let hash = plain.utf8Offset(of: UInt8(ascii: "#")) {
            fragment = String(plain.utf8.dropFirst(hash + 1))
            plain = String(Substring(plain.utf8.prefix(hash)))
        }
        self.init(
            url: plain, method: request.httpMethod ?? "GET", headers: Self.fields(request, session.settings.fields),
            body: try body ?? Self.ownBody(request), settings: session.exchangeSettings(of: request),
            fragment: fragment, cookies: session.cookieJar(for: request))
        if credentials != .none { settings.credentials = credentials }
    }

    /// Returns the error for a URL that nothing can be sent to.
    static func unsupported(_ url: String) -> AFError {
        let reason =
            url.lowercased().hasPrefix("file:")
            ? ": a file is read by request(_:) and copied by download(_:to:); it is neither streamed nor uploaded to"
            : URLSpelling.fault(of: url).map { ": its host is no name: \($0)" } ?? ""
        let cause = TransferError(.badURL, "unsupported URL: \(Redaction.url(url))\(reason)")
        return .sessionTaskFailed(error: URLError(cause))
    }

    private static func ownBody(_ request: URLRequest) throws -> RequestBody {
        if let data = request.httpBody { return .bytes([UInt8](data)) }
        return .none
    }

    /// Returns the request's own fields, sorted by name as a URL request keeps no order, and the session's defaults for
    /// the rest.
    private static func fields(_ request: URLRequest, _ defaults: [HeaderField]) -> [HeaderField] {
        guard let given = request.allHTTPHeaderFields, !given.isEmpty else { return defaults }
        let own = given.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
        return defaults.filter { own.value($0.name) == nil } + own
    }
}

extension ExchangeSettings {
    /// Makes the settings of a request of a session: the response is kept in memory or passed on, decoded and received
    /// in small pieces.
    fileprivate init(_ session: SessionSettings, _ request: URLRequest) {
        self.init()
        if let idle = session.idleTimeout(of: request) {
            idleTimeout = .seconds(min(idle, 1e9))
            connectTimeout = .seconds(min(idle, 1e6))
        }
        if session.resourceTimeout > 0, session.resourceTimeout < 1e9 { maxTime = .seconds(session.resourceTimeout) }
        maxRedirects = session.maxRedirects
        proxies = session.proxies
        proxyAuthorities = session.proxyAuthorities
        unixSocket = session.unixSocket
        collectsHopMetrics = true
        decodes = true
        maxDecodedLength = session.maxDecodedLength
        receiveBufferSize = 64 << 10
        openEnd = .takenIfAlerted
    }
}

extension SessionSettings {
    /// The longest silence of a request, in seconds; `nil` for no limit.
    ///
    /// Foundation's default of both timeouts is 60 s. A value that was set counts, and the shorter of two such values.
    func idleTimeout(of request: URLRequest) -> TimeInterval? {
        var idle = requestTimeout
        if request.timeoutInterval > 0, request.timeoutInterval != 60 || idle <= 0 {
            idle = idle > 0 && idle != 60 ? min(idle, request.timeoutInterval) : request.timeoutInterval
        }
        return idle > 0 ? idle : nil
    }
}

/// The settings of a session's last request. Most requests have the same settings and share one reference.
struct LastSettings: Sendable {
    private var timeout: TimeInterval = 0
    private var settings: Shared<ExchangeSettings>?
    private var rules: TLSRules?

    mutating func settings(of request: URLRequest, in session: SessionSettings) -> Shared<ExchangeSettings> {
        // The settings depend on nothing else of a request.
        if let settings, timeout == request.timeoutInterval { return settings }
        var made = Shared(wrappedValue: ExchangeSettings(session, request))
        if let rules { made.wrappedValue.tls = rules }
        (timeout, settings) = (request.timeoutInterval, made)
        return made
    }

    /// Adopts the session's own TLS rules, once they are known.
    mutating func adopt(_ rules: TLSRules) {
        self.rules = rules
        settings?.wrappedValue.tls = rules
    }
}

extension HTTPURLResponse {
    /// Makes the response whose body begins.
    static func make(_ start: BodyStart, url: String) -> HTTPURLResponse? { make(start.head, url: url, version: 0) }

    /// - Parameter head: Fields of one name are joined by commas (RFC 9110 §5.3).
    static func make(_ head: ResponseHead, status: Int? = nil, url: String, version: Int) -> HTTPURLResponse? {
        // A `URLProtocol` of the program may answer with a response that is not HTTP.
        guard (status ?? head.status) > 0, let url = URL(string: url) else { return nil }
        var fields: [String: String] = [:]
        for field in head.fields {
            fields[field.name] = fields[field.name].map { "\($0), \(field.value)" } ?? field.value
        }
        return HTTPURLResponse(
            url: url, statusCode: status ?? head.status, httpVersion: HTTPVersion.name(version),
            headerFields: fields)
    }
}

enum HTTPVersion {
    static let two = 3

    /// Returns the protocol's name in ALPN (RFC 7301).
    static func alpn(_ number: Int) -> String {
        switch number {
        case 1: "http/1.0"
        case 3: "h2"
        case 30: "h3"
        default: "http/1.1"
        }
    }

    /// Returns the name of a version, by libcurl's numbers (CURLINFO_HTTP_VERSION(3)).
    static func name(_ number: Int) -> String {
        switch number {
        case 1: "HTTP/1.0"
        case 3: "HTTP/2"
        case 30: "HTTP/3"
        default: "HTTP/1.1"
        }
    }
}
