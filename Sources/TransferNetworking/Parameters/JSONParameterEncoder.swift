public import Foundation
public import FoundationNetworking

/// Sends parameters as a JSON body.
///
/// - Note: `@unchecked` only because it's open: it holds nothing but the encoder, which may be used by several threads
///   as long as nobody changes its settings. A subclass has to be safe itself.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// `JSONEncoder`'s defaults.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

    /// With line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { with(.prettyPrinted) }

    /// With sorted names: the same parameters give the same bytes.
    public static var sortedKeys: JSONParameterEncoder { with(.sortedKeys) }

    public let encoder: JSONEncoder

    /// - Parameter encoder: Must not be changed afterwards.
    public init(encoder: JSONEncoder = JSONEncoder()) { self.encoder = encoder }

    /// Sets `Content-Type` to `application/json` unless it's set.
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
    /// A JSON body, by `JSONEncoder`'s defaults.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// A JSON body.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
