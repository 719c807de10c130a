import Foundation
import FoundationNetworking

/// The parts of a URL request.
struct RequestParts: URLRequestConvertible {
    let url: any URLConvertible
    let method: HTTPMethod
    let headers: HTTPHeaders?
    /// The closure that adds the parameters.
    var encode: (@Sendable (URLRequest) throws -> URLRequest)?
    var modify: Session.RequestModifier?

    func asURLRequest() throws -> URLRequest {
        var request = try URLRequest(url: url, method: method, headers: headers)
        try modify?(&request)
        return try encode?(request) ?? request
    }
}

extension URLRequestConvertible {
    /// Whether the URL request is created quickly and without the program's code.
    var isQuick: Bool {
        guard let parts = self as? RequestParts else { return self is URLRequest }
        return parts.encode == nil && parts.modify == nil
            && (parts.url is String || parts.url is URL || parts.url is URLComponents)
    }
}
