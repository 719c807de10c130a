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

/// Something that is made into a URL request in no time, and without anybody else's code.
protocol QuickConvertible {
    var isQuick: Bool { get }
}

extension RequestParts: QuickConvertible {
    var isQuick: Bool { encode == nil && modify == nil && (url is String || url is URL || url is URLComponents) }
}

extension URLRequest: QuickConvertible {
    var isQuick: Bool { true }
}
