import Foundation
import FoundationNetworking

/// A request as its parts.
struct RequestParts: URLRequestConvertible {
    let url: any URLConvertible
    let method: HTTPMethod
    let headers: HTTPHeaders?
    /// Puts parameters in.
    var encode: (@Sendable (URLRequest) throws -> URLRequest)?
    var modify: Session.RequestModifier?

    func asURLRequest() throws -> URLRequest {
        var request = try URLRequest(url: url, method: method, headers: headers)
        try modify?(&request)
        return try encode?(request) ?? request
    }
}

extension URLRequestConvertible {
    /// Whether it's made into a URL request in no time, and without anybody else's code.
    var isQuick: Bool {
        guard let parts = self as? RequestParts else { return self is URLRequest }
        return parts.encode == nil && parts.modify == nil
            && (parts.url is String || parts.url is URL || parts.url is URLComponents)
    }
}
