import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

// The conversion between Foundation's values, which a `URLProtocol` uses, and the engine's.

extension ProtocolExchange.Order {
    /// The point from which a download continues.
    var resumePoint: ResumePoint? {
        if case .representation(let point) = exchange.intent { point } else { nil }
    }
}

extension ResponseHead {
    /// Makes a head, with status 0 and no fields for a response that is not HTTP.
    init(_ response: URLResponse?) {
        guard let http = response as? HTTPURLResponse else {
            self.init(status: 0, fields: [])
            return
        }
        let fields = http.allHeaderFields.map { HeaderField(Self.line($0.key), Self.line($0.value)) }
        self.init(status: http.statusCode, fields: fields.sorted { $0.name < $1.name })
    }

    /// Returns the value without line ends, which would split it into several fields.
    private static func line(_ value: Any) -> String {
        String("\(value)".unicodeScalars.map { $0 == "\r" || $0 == "\n" ? " " : Character($0) })
    }
}

extension URLError {
    /// Returns the `URLError` for an `NSError` of Foundation's network, as a cast on Linux does not find it.
    static func named(_ error: any Error) -> any Error {
        guard !(error is URLError), type(of: error) is NSError.Type else { return error }
        let plain = error as NSError
        guard plain.domain == NSURLErrorDomain else { return error }
        return URLError(URLError.Code(rawValue: plain.code) ?? .unknown, userInfo: plain.userInfo)
    }
}

extension BodyStart {
    /// Makes the start of a body that is not decoded here, as a `URLProtocol` delivers decoded bytes.
    ///
    /// - Parameter point: The point from which the download can continue. A 206 continues there, any other response
    ///   starts anew.
    convenience init(_ head: ResponseHead, continuing point: ResumePoint?, url: String) {
        let isDecoded = head.contentCoding != nil
        guard head.status == 206, let point else {
            self.init(head: head, offset: 0, total: isDecoded ? nil : head.contentLength, url: url)
            return
        }
        self.init(head: head, offset: point.offset, total: head.contentLength.map { point.offset + $0 }, url: url)
    }
}

extension RedirectProposal {
    init(_ request: URLRequest, by response: URLResponse, from: URLRequest) {
        self.init(
            head: ResponseHead(response), url: (response.url ?? from.url)?.absoluteString ?? "",
            nextURL: request.url?.absoluteString ?? "", method: request.httpMethod ?? "GET",
            headers: request.headers.map { HeaderField($0.name, $0.value) },
            sendsBody: request.httpBody != nil || request.httpBodyStream != nil,
            replacedBody: request.httpBody.map { [UInt8]($0) })
    }
}

extension RedirectDecision {
    /// Returns the decision to follow the protocol's proposal.
    static func follow(_ request: URLRequest) -> RedirectDecision {
        .follow(
            url: request.url?.absoluteString ?? "", method: request.httpMethod ?? "GET",
            headers: request.headers.map { HeaderField($0.name, $0.value) })
    }
}

extension URLRequest {
    /// Makes the request that was decided on from the proposed one.
    init?(_ proposed: URLRequest, url: String, method: String, headers: [HeaderField], body: RedirectDecision.Body) {
        guard let url = URL(string: url) else { return nil }
        self = proposed
        self.url = url
        httpMethod = method
        allHTTPHeaderFields = nil
        for field in headers { addValue(field.value, forHTTPHeaderField: field.name) }
        switch body {
        case .asProposed: break
        case .none: (httpBody, httpBodyStream) = (nil, nil)
        case .bytes(let bytes): httpBody = Data(bytes)
        }
    }

    /// Makes the request as a `URLProtocol` receives it, with the session's fields and the body of an upload. A body in
    /// memory is its `httpBody`, any other its `httpBodyStream`.
    init(_ request: URLRequest, sentAs exchange: ExchangeRequest) {
        self = request
        for field in exchange.headers { setValue(field.value, forHTTPHeaderField: field.name) }
        if value(forHTTPHeaderField: "Cookie") == nil, let cookie = exchange.cookies?.field(for: exchange.url) {
            setValue(cookie, forHTTPHeaderField: "Cookie")
        }
        if case .representation(let point?) = exchange.intent {
            setValue("bytes=\(point.offset)-", forHTTPHeaderField: "Range")
            if let validator = point.validator?.ifRange { setValue(validator, forHTTPHeaderField: "If-Range") }
        }
        switch exchange.body {
        case .none: break
        case .bytes(let bytes): httpBody = Data(bytes)
        case .part, .stream, .window: httpBodyStream = BodyInputStream(exchange.body)
        }
    }
}
