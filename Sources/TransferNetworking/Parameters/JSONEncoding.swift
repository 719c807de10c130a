public import Foundation
public import FoundationNetworking

/// Sends a dictionary, or any JSON value, as a JSON body.
public struct JSONEncoding: ParameterEncoding {
    /// A reason for which the encoding itself refuses parameters.
    public enum Error: Swift.Error, Sendable, LocalizedError {
        /// Something in the parameters can't be written as JSON.
        case invalidJSONObject

        public var errorDescription: String? { localizedDescription }

        public var localizedDescription: String {
            "the parameters hold something that JSON has no form for, such as a date, data, or a number that's not finite"
        }
    }

    /// As short as it gets.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// With line breaks and indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    public let options: JSONSerialization.WritingOptions

    public init(options: JSONSerialization.WritingOptions = []) { self.options = options }

    /// Sets `Content-Type` to `application/json` unless it's set.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(.jsonEncodingFailed)`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest { try encode(urlRequest, withJSONObject: parameters) }

    /// Sets `Content-Type` to `application/json` unless it's set.
    ///
    /// - Parameter jsonObject: An array or a dictionary; `nil` leaves the request as it is.
    /// - Throws: `AFError.parameterEncodingFailed(.jsonEncodingFailed)`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        // Asked beforehand: JSONSerialization ends the program over what it can't write.
        guard JSONSerialization.isValidJSONObject(jsonObject) else {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Error.invalidJSONObject))
        }
        do {
            let body = try JSONSerialization.data(withJSONObject: jsonObject, options: options)
            request.setParameters(body, contentType: URLRequest.jsonContentType)
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }
}
