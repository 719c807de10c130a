import Foundation
public import FoundationNetworking

/// Puts parameters into the query of the URL or, as a form, into the body.
///
/// - Note: `@unchecked` only because it's open: both of its properties are constant and Sendable. A subclass has to be
///   safe itself.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// The place that the parameters go to.
    public enum Destination: Sendable {
        /// Into the query for GET, HEAD and DELETE, into the body for other methods.
        case methodDependent
        /// Into the query, after what's there.
        case queryString
        /// Into the body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.encodesParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// By method, with `URLEncodedFormEncoder`'s defaults.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    public let encoder: URLEncodedFormEncoder
    public let destination: Destination

    @preconcurrency
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Sets `Content-Type` to `application/x-www-form-urlencoded; charset=utf-8` with a body, unless it's set.
    ///
    /// - Throws: `AFError.parameterEncoderFailed`: the request has no URL or method, or the parameters can't be written
    ///   as a form.
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
    /// A query or a form, by method.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// A query or a form.
    @preconcurrency
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
