public import Foundation
import TransferCore

extension AFError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// One sentence; secrets in URLs are left out.
    public var description: String {
        switch self {
        case .createUploadableFailed(let error): "Uploadable creation failed: \(error)"
        case .createURLRequestFailed(let error): "URLRequest creation failed: \(error)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "Moving the downloaded file from \(source.path) to \(destination.path) failed: \(error)"
        case .explicitlyCancelled: "Request explicitly cancelled."
        case .invalidURL(let url): "URL is not valid: \(Redaction.url("\(url)"))"
        case .requestAdaptationFailed(let error): "Request adaptation failed: \(error)"
        case .requestRetryFailed(let retryError, let originalError):
            "Request retry failed with retry error: \(retryError), original error: \(originalError)"
        case .responseSerializationFailed(let reason): "Response could not be serialized: \(reason)"
        case .responseValidationFailed(let reason): "Response validation failed: \(reason)"
        case .sessionTaskFailed(let error): "URLSessionTask failed with error: \(error.localizedDescription)"
        }
    }
}

extension AFError.ResponseValidationFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dataFileNil: "there is no file"
        case .dataFileReadFailed(let url): "the file \(url.path) could not be read"
        case .missingContentType(let acceptable):
            "Content-Type was missing and acceptable content types \(acceptable) do not match \"*/*\""
        case .unacceptableContentType(let acceptable, let type):
            "Content-Type \"\(type)\" does not match any acceptable types: \(acceptable.joined(separator: ","))"
        case .unacceptableStatusCode(let code): "unacceptable status code: \(code)"
        case .customValidationFailed(let error): "custom validation failed: \(error)"
        }
    }
}

extension AFError.ResponseSerializationFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .inputDataNilOrZeroLength: "the data was nil or empty"
        case .inputFileNil: "there is no file"
        case .inputFileReadFailed(let url): "the file \(url.path) could not be read"
        case .stringSerializationFailed(let encoding): "the text is not in the encoding \(encoding)"
        case .decodingFailed(let error): "decoding failed: \(error)"
        case .customSerializationFailed(let error): "custom serializer failed: \(error)"
        case .invalidEmptyResponse(let type): "an empty response can't be a \(type)"
        }
    }
}
