import Foundation
public import FoundationNetworking

/// Parameters by name; a value is what its encoding understands: text, numbers, arrays, dictionaries.
public typealias Parameters = [String: any Sendable]

/// Puts a dictionary of parameters into a request.
///
/// Prefer a ``ParameterEncoder`` where the parameters have a type of their own.
@preconcurrency
public protocol ParameterEncoding: Sendable {
    /// - Parameter parameters: `nil` leaves the request as it is.
    /// - Throws: What the request itself throws, or `AFError.parameterEncodingFailed`.
    @preconcurrency
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
