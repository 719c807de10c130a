public import Foundation
public import FoundationNetworking

/// A value that can be converted to the URL of a request.
@preconcurrency
public protocol URLConvertible: Sendable {
    /// Returns the URL.
    ///
    /// - Throws: An error when the value is not a URL.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// Parses the text as a URL.
    ///
    /// - Throws: `AFError.invalidURL` when the text is not a URL.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Returns the URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of the components.
    ///
    /// - Throws: `AFError.invalidURL` when the components do not form a URL.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

/// A value that can be converted to a URL request, such as a router.
@preconcurrency
public protocol URLRequestConvertible: Sendable {
    /// Returns the URL request.
    ///
    /// - Throws: An error when no URL request can be created.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The URL request; `nil` if none can be created.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// Returns the URL request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// Creates a URL request from its parts.
    ///
    /// - Throws: An error when `url` is not a URL.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        // GET is the default; setting it again would copy the request and compare names.
        if method != .get { httpMethod = method.rawValue }
        // Fields are set one by one, as setting all at once would merge names that differ in case.
        for header in headers ?? [] { setValue(header.value, forHTTPHeaderField: header.name) }
    }
}
