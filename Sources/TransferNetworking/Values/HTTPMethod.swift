import Foundation
public import FoundationNetworking

/// An HTTP method; the registered ones are static values, others are made from their name (RFC 9110 §9).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// Asks a proxy for a tunnel (RFC 9110 §9.3.6).
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    /// Removes a resource (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Fetches a resource (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// Fetches the head of what a GET would give (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Asks what may be done (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// Changes a part of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Hands something to a resource (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// Puts something in a resource's place (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// A safe method with a body (draft-ietf-httpbis-safe-method-w-body).
    public static let query = HTTPMethod(rawValue: "QUERY")
    /// Asks for the request as the server sees it (RFC 9110 §9.3.8).
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// As it's sent: methods are case-sensitive.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
}

extension URLRequest {
    /// `httpMethod` as a typed value.
    public var method: HTTPMethod? {
        get { httpMethod.map(HTTPMethod.init(rawValue:)) }
        set { httpMethod = newValue?.rawValue }
    }

    /// Refuses what servers refuse or misunderstand.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` for a GET with a body.
    public func validate() throws {
        if method == .get, let body = httpBody {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(body))
        }
    }
}
