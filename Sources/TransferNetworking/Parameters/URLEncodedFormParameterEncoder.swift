import Foundation
public import FoundationNetworking

/// An encoder that writes parameters into the query of the URL or, as a form, into the body.
///
/// - Note: `@unchecked` is only needed because the class is open: both of its properties are constant and Sendable. A
///   subclass has to be safe itself.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// The place of the parameters.
    public enum Destination: Sendable {
        /// The query for GET, HEAD and DELETE, the body for other methods.
        case methodDependent
        /// The query, after its existing pairs.
        case queryString
        /// The body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.encodesParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// An encoder that chooses the place by the method, with the default settings of ``URLEncodedFormEncoder``.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// The encoder of the values.
    public let encoder: URLEncodedFormEncoder
    /// The place of the parameters.
    public let destination: Destination

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - encoder: The encoder of the values.
    ///   - destination: The place of the parameters.
    @preconcurrency
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Writes the parameters into the query or the body. With a body, sets `Content-Type` to
    /// `application/x-www-form-urlencoded; charset=utf-8` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` when the request has no URL or method, or when the parameters cannot
    ///   be written as a form.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else {
            throw AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url))
        }
        guard let method = request.method else {
            throw AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.httpMethod(rawValue: "nil")))
        }
        let text: String
        do {
            text = try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        var request = request
        if destination.encodesParametersInURL(for: method) {
            guard let complete = url.appending(percentEncodedQuery: text) else {
                throw AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url))
            }
            request.url = complete
        } else {
            request.setParameters(Data(text.utf8), contentType: URLRequest.formContentType)
        }
        return request
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// An encoder for a query or a form, chosen by the method.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// Returns an encoder for a query or a form.
    @preconcurrency
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
