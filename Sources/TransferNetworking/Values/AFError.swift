public import Foundation
import FoundationNetworking

/// Why a request failed.
///
/// The error is carried along in every result, and is large: hence behind a reference (`indirect`).
public indirect enum AFError: Error, Sendable {
    /// The body of an upload could not be opened or made.
    case createUploadableFailed(error: any Error)
    /// `asURLRequest()` threw.
    case createURLRequestFailed(error: any Error)
    /// A complete download could not be moved to its destination; it's still at `source` unless the error says so.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// `cancel()` was called.
    case explicitlyCancelled
    /// A `URLConvertible` made no URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart body could not be made.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A `ParameterEncoding` failed.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` failed.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A `RequestAdapter` refused the request.
    case requestAdaptationFailed(error: any Error)
    /// A `RequestRetrier` failed while it decided about `originalError`.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// The response is not what `validate` accepts.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The body could not be turned into the wanted value.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server could not be trusted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was released while the request was under way.
    case sessionDeinitialized
    /// The session was invalidated, with the error if there was one.
    case sessionInvalidated(error: (any Error)?)
    /// The network failed; the error is a `URLError`, whose `transferError` has the cause in full.
    case sessionTaskFailed(error: any Error)
    /// The request is one that must not be sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}
