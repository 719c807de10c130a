import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension ExchangeRequest {
    /// The exchange that a URL request of a session asks for.
    ///
    /// - Parameter body: Instead of the request's own.
    /// - Throws: `AFError` for a request that can't be sent.
    init(
        _ request: URLRequest, settings session: SessionSettings, body: RequestBody? = nil, intent: Intent = .message
    ) throws {
        guard let url = request.url else { throw AFError.invalidURL(url: "") }
        guard Origin(url: url.absoluteString) != nil else {
            let cause = TransferError(.badURL, "unsupported URL: \(Redaction.url(url.absoluteString))")
            throw AFError.sessionTaskFailed(error: URLError(cause))
        }
        var settings = ExchangeSettings()
        settings.connectTimeout = session.connectTimeout
        if request.timeoutInterval > 0 { settings.lowSpeedTime = .seconds(max(1, min(request.timeoutInterval, 1e9))) }
        settings.maxRedirects = session.maxRedirects
        settings.proxy = session.proxy
        var plain = url.absoluteString
        if let user = url.user, var components = URLComponents(url: url, resolvingAgainstBaseURL: true) {
            // The engine takes no userinfo: it would go into logs and Referer fields.
            settings.credentials = .password(
                user: user.removingPercentEncoding ?? user,
                password: url.password.map { $0.removingPercentEncoding ?? $0 } ?? "")
            components.user = nil
            components.password = nil
            plain = components.string ?? plain
        }
        if let fragment = plain.firstIndex(of: "#") { plain = String(plain[..<fragment]) }
        self.init(
            url: plain, method: request.httpMethod ?? "GET", headers: Self.fields(request, session.headers),
            body: body ?? request.httpBody.map { .bytes([UInt8]($0)) } ?? .none, intent: intent, settings: settings)
    }

    /// The request's own fields by name, as a URL request keeps no order, and the session's for those it doesn't set.
    private static func fields(_ request: URLRequest, _ defaults: HTTPHeaders) -> [HeaderField] {
        let own = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
        return defaults.filter { own.value($0.name) == nil }.map { HeaderField($0.name, $0.value) } + own
    }
}

extension HTTPURLResponse {
    /// - Parameter head: Fields of one name are joined by commas (RFC 9110 §5.3).
    static func make(_ head: ResponseHead, status: Int? = nil, url: String, version: Int) -> HTTPURLResponse? {
        guard let url = URL(string: url) else { return nil }
        var fields: [String: String] = [:]
        for field in head.fields {
            fields[field.name] = fields[field.name].map { "\($0), \(field.value)" } ?? field.value
        }
        return HTTPURLResponse(
            url: url, statusCode: status ?? head.status, httpVersion: HTTPVersion.name(version),
            headerFields: fields)
    }
}

private enum HTTPVersion {
    /// libcurl's numbers (CURLINFO_HTTP_VERSION(3)).
    static func name(_ number: Int) -> String {
        switch number {
        case 1: "HTTP/1.0"
        case 3: "HTTP/2"
        case 30: "HTTP/3"
        default: "HTTP/1.1"
        }
    }
}
