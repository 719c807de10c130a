public import Foundation
public import FoundationNetworking

/// An encoding that sends a dictionary, or any JSON value, as a JSON body.
public struct JSONEncoding: ParameterEncoding {
    /// The reason for which the encoding itself refuses parameters.
    public enum Error: Swift.Error, Sendable, LocalizedError {
        /// The parameters contain something that cannot be written as JSON.
        case invalidJSONObject

        public var errorDescription: String? { localizedDescription }

        /// The text of the error, in English.
        public var localizedDescription: String {
            "the parameters hold something that JSON has no form for, such as a date, data, or a number that is not finite"
        }
    }

    /// The encoding without insignificant white space.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// The encoding with line breaks and indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// The options of `JSONSerialization`.
    public let options: JSONSerialization.WritingOptions

    /// Creates an encoding with options of `JSONSerialization`.
    public init(options: JSONSerialization.WritingOptions = []) { self.options = options }

    /// Writes the parameters into the body. Sets `Content-Type` to `application/json` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(.jsonEncodingFailed)`, or the error of `urlRequest`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest { try encode(urlRequest, withJSONObject: parameters) }

    /// Writes a JSON value into the body. Sets `Content-Type` to `application/json` unless the request has one.
    ///
    /// - Parameter jsonObject: An array or a dictionary; `nil` leaves the request unchanged.
    /// - Throws: `AFError.parameterEncodingFailed(.jsonEncodingFailed)`, or the error of `urlRequest`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        // JSONSerialization ends the program over a value that it cannot write, hence the check.
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
