import Foundation
public import FoundationNetworking

/// An encoder that adds an `Encodable` value to a request.
@preconcurrency
public protocol ParameterEncoder: Sendable {
    /// Adds the parameters to the request.
    ///
    /// - Parameters:
    ///   - parameters: The value; `nil` leaves the request unchanged.
    ///   - request: The request before the parameters.
    /// - Throws: `AFError.parameterEncoderFailed` or `AFError.parameterEncodingFailed`. Any other error is reported as
    ///   `AFError.createURLRequestFailed`, which contains it.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest
}
