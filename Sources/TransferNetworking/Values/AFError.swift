public import Foundation
import FoundationNetworking

/// Why a request failed.
public enum AFError: Error, Sendable {
    /// The body of an upload could not be opened or made.
    case createUploadableFailed(error: any Error)
    case createURLRequestFailed(error: any Error)
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// `cancel()` was called.
    case explicitlyCancelled
    case invalidURL(url: any URLConvertible)
    case requestAdaptationFailed(error: any Error)
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The network failed; the error is a `URLError`, whose `transferError` has the cause in full.
    case sessionTaskFailed(error: any Error)

    public enum ResponseValidationFailureReason: Sendable {
        case dataFileNil
        case dataFileReadFailed(at: URL)
        case missingContentType(acceptableContentTypes: [String])
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        case unacceptableStatusCode(code: Int)
        case customValidationFailed(error: any Error)
    }

    public enum ResponseSerializationFailureReason: Sendable {
        case inputDataNilOrZeroLength
        case inputFileNil
        case inputFileReadFailed(at: URL)
        case stringSerializationFailed(encoding: String.Encoding)
        case decodingFailed(error: any Error)
        case customSerializationFailed(error: any Error)
        case invalidEmptyResponse(type: String)
    }
}

extension AFError {
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { return true }
        return false
    }

    public var isInvalidURLError: Bool {
        if case .invalidURL = self { return true }
        return false
    }

    public var isResponseValidationError: Bool {
        if case .responseValidationFailed = self { return true }
        return false
    }

    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { return true }
        return false
    }

    public var isSessionTaskError: Bool {
        if case .sessionTaskFailed = self { return true }
        return false
    }

    public var isRequestRetryError: Bool {
        if case .requestRetryFailed = self { return true }
        return false
    }

    /// The status that was refused.
    public var responseCode: Int? {
        guard case .responseValidationFailed(.unacceptableStatusCode(let code)) = self else { return nil }
        return code
    }

    public var underlyingError: (any Error)? {
        switch self {
        case .createUploadableFailed(let error), .createURLRequestFailed(let error),
            .downloadedFileMoveFailed(let error, _, _), .requestAdaptationFailed(let error),
            .requestRetryFailed(let error, _), .sessionTaskFailed(let error):
            error
        case .responseSerializationFailed(let reason): reason.underlyingError
        case .responseValidationFailed(.customValidationFailed(let error)): error
        case .explicitlyCancelled, .invalidURL, .responseValidationFailed: nil
        }
    }
}

extension AFError.ResponseSerializationFailureReason {
    var underlyingError: (any Error)? {
        switch self {
        case .decodingFailed(let error), .customSerializationFailed(let error): error
        default: nil
        }
    }
}

extension Error {
    /// The error as an `AFError`, if it is one.
    public var asAFError: AFError? { self as? AFError }

    /// The error itself when it is an `AFError`, else what `wrap` makes of it.
    func asAFError(or wrap: (any Error) -> AFError) -> AFError { self as? AFError ?? wrap(self) }
}
