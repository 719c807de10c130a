import Foundation
public import FoundationNetworking

/// Parameters by name. The encoding determines the permitted values: text, numbers, arrays, dictionaries.
public typealias Parameters = [String: any Sendable]

/// An encoding that adds a dictionary of parameters to a request.
///
/// A ``ParameterEncoder`` is preferable if the parameters have a type of their own.
@preconcurrency
public protocol ParameterEncoding: Sendable {
    /// Adds the parameters to the request.
    ///
    /// - Parameters:
    ///   - urlRequest: The request before the parameters.
    ///   - parameters: The parameters; `nil` leaves the request unchanged.
    /// - Throws: The error of `urlRequest`, or `AFError.parameterEncodingFailed`.
    @preconcurrency
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
