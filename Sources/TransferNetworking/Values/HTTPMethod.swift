import Foundation
public import FoundationNetworking

/// An HTTP method; the registered ones are static values, others are made from their name (RFC 9110 §9).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    public static let delete = HTTPMethod(rawValue: "DELETE")
    public static let get = HTTPMethod(rawValue: "GET")
    public static let head = HTTPMethod(rawValue: "HEAD")
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    public static let patch = HTTPMethod(rawValue: "PATCH")
    public static let post = HTTPMethod(rawValue: "POST")
    public static let put = HTTPMethod(rawValue: "PUT")
    /// A safe method with a body (draft-ietf-httpbis-safe-method-w-body).
    public static let query = HTTPMethod(rawValue: "QUERY")
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
}
