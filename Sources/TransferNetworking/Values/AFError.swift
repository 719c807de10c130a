public import Foundation
import FoundationNetworking

/// The failure of a request.
///
/// The enum is `indirect`, as every result contains the error and its value is large.
public indirect enum AFError: Error, Sendable {
    /// The body of an upload could not be opened or created.
    case createUploadableFailed(error: any Error)
    /// The source of the URL request (`asURLRequest()`) threw an error.
    case createURLRequestFailed(error: any Error)
    /// A complete download could not be moved to its destination. It is still at `source` unless the error says
    /// otherwise.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// `cancel()` was called.
    case explicitlyCancelled
    /// A `URLConvertible` is not a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart body could not be created.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A `ParameterEncoding` failed.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` failed.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A `RequestAdapter` refused the request.
    case requestAdaptationFailed(error: any Error)
    /// A `RequestRetrier` failed while it decided about `originalError`.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validation refused the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The body could not be serialized.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server could not be trusted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was released before the request ended.
    case sessionDeinitialized
    /// The session was invalidated, perhaps with an error.
    case sessionInvalidated(error: (any Error)?)
    /// The network failed. The error is a `URLError`, whose `transferError` has the full cause.
    case sessionTaskFailed(error: any Error)
    /// The URL request is invalid and must not be sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}
