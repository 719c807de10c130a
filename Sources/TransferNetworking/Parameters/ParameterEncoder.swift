import Foundation
public import FoundationNetworking

/// Puts an `Encodable` value into a request.
@preconcurrency
public protocol ParameterEncoder: Sendable {
    /// - Parameter parameters: `nil` leaves the request as it is.
    /// - Throws: `AFError.parameterEncoderFailed` or `AFError.parameterEncodingFailed`; another error reaches the
    ///   response wrapped in `AFError.createURLRequestFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest
}
