import Foundation
public import FoundationNetworking

/// An HTTP method (RFC 9110 §9). Registered methods are static values; others are created from their name.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method that asks a proxy for a tunnel (RFC 9110 §9.3.6).
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    /// The method that removes a resource (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// The method that fetches a resource (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// The method that fetches the head of a GET's response (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// The method that asks for the supported methods and options (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// The method that changes a part of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// The method that passes content to a resource (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// The method that replaces a resource (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// The safe method with a body (draft-ietf-httpbis-safe-method-w-body).
    public static let query = HTTPMethod(rawValue: "QUERY")
    /// The method that asks for the request as the server received it (RFC 9110 §9.3.8).
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// The name as it is sent; methods are case-sensitive.
    public let rawValue: String

    /// Creates a method with a name, which is not checked.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension URLRequest {
    /// The value of `httpMethod` in typed form.
    public var method: HTTPMethod? {
        get { httpMethod.map(HTTPMethod.init(rawValue:)) }
        set { httpMethod = newValue?.rawValue }
    }

    /// Checks for a form that servers refuse or misunderstand.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` for a GET with a body.
    public func validate() throws {
        if method == .get, let body = httpBody {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(body))
        }
    }
}
