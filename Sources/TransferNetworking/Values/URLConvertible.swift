public import Foundation
public import FoundationNetworking

/// A value that can be read as a URL to make requests for.
@preconcurrency
public protocol URLConvertible: Sendable {
    /// - Throws: When it is no URL.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// - Throws: `AFError.invalidURL` when the text is no URL.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// - Throws: `AFError.invalidURL` when the components make no URL.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

/// A value that can be read as a request; a router conforms to it.
@preconcurrency
public protocol URLRequestConvertible: Sendable {
    /// - Throws: When no request can be made of it.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request, or `nil` when none can be made.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// A request from its parts.
    ///
    /// - Throws: When `url` is no URL.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        // GET is what it has; setting it again would copy everything and compare names.
        if method != .get { httpMethod = method.rawValue }
        // One by one: setting them all would fold their cases together.
        for header in headers ?? [] { setValue(header.value, forHTTPHeaderField: header.name) }
    }
}
