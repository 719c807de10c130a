public import Foundation
public import FoundationNetworking

/// An encoder that sends parameters as a JSON body.
///
/// - Note: `@unchecked` is only needed because the class is open. Its only property is the encoder, which several
///   threads may use as long as its settings are not changed. A subclass has to be safe itself.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with `JSONEncoder`'s default settings.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

    /// An encoder that writes line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { with(.prettyPrinted) }

    /// An encoder that sorts names, so that equal parameters yield equal bytes.
    public static var sortedKeys: JSONParameterEncoder { with(.sortedKeys) }

    /// The encoder of the values.
    public let encoder: JSONEncoder

    /// Creates an encoder.
    ///
    /// - Parameter encoder: The encoder of the values, which must not be changed afterwards.
    public init(encoder: JSONEncoder = JSONEncoder()) { self.encoder = encoder }

    /// Writes the parameters into the body. Sets `Content-Type` to `application/json` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(.jsonEncodingFailed)`.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.setParameters(try encoder.encode(parameters), contentType: URLRequest.jsonContentType)
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }

    private static func with(_ formatting: JSONEncoder.OutputFormatting) -> JSONParameterEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// An encoder for a JSON body, with `JSONEncoder`'s default settings.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// Returns an encoder for a JSON body.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
