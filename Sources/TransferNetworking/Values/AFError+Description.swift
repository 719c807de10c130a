public import Foundation
import TransferCore
import TransferCrypto

extension AFError: LocalizedError, CustomStringConvertible {
    /// The error in one sentence; secrets in URLs are left out.
    public var errorDescription: String? { description }

    /// The error in one sentence; secrets in URLs are left out.
    public var description: String {
        switch self {
        case .createUploadableFailed(let error): "Uploadable creation failed: \(text(of: error))"
        case .createURLRequestFailed(let error): "URLRequest creation failed: \(text(of: error))"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "Moving the downloaded file from \(source.path) to \(destination.path) failed: \(text(of: error))"
        case .explicitlyCancelled: "Request explicitly cancelled."
        case .invalidURL(let url): "URL is not valid: \(Redaction.url("\(url)"))"
        case .multipartEncodingFailed(let reason): "Multipart encoding failed: \(reason)"
        case .parameterEncodingFailed(let reason): "Parameter encoding failed: \(reason)"
        case .parameterEncoderFailed(let reason): "Parameter encoder failed: \(reason)"
        case .requestAdaptationFailed(let error): "Request adaptation failed: \(text(of: error))"
        case .requestRetryFailed(let retryError, let originalError):
            "Request retry failed with retry error: \(text(of: retryError)), "
                + "original error: \(text(of: originalError))"
        case .responseSerializationFailed(let reason): "Response could not be serialized: \(reason)"
        case .responseValidationFailed(let reason): "Response validation failed: \(reason)"
        case .serverTrustEvaluationFailed(let reason): "Server trust evaluation failed: \(reason)"
        case .sessionDeinitialized:
            "The session was released before the request ended; keep it as long as its requests."
        case .sessionInvalidated(let error):
            "The session was invalidated\(error.map { ": \(text(of: $0))" } ?? ", without an error.")"
        case .sessionTaskFailed(let error):
            "URLSessionTask failed with error: \(redacted(error.localizedDescription))"
        case .urlRequestValidationFailed(let reason): "URLRequest validation failed: \(reason)"
        }
    }
}

extension AFError.MultipartEncodingFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .bodyPartURLInvalid(let url): "\(redacted(url.absoluteString)) is no file URL"
        case .bodyPartFilenameInvalid(let url): "\(redacted(url.absoluteString)) has no file name"
        case .bodyPartFileNotReachable(let url): "the file \(url.path) cannot be reached"
        case .bodyPartFileNotReachableWithError(let url, let error):
            "the file \(url.path) cannot be reached: \(text(of: error))"
        case .bodyPartFileIsDirectory(let url): "\(url.path) is a folder"
        case .bodyPartFileSizeNotAvailable(let url): "the size of \(url.path) is unknown"
        case .bodyPartFileSizeQueryFailedWithError(let url, let error):
            "the size of \(url.path) is unknown: \(text(of: error))"
        case .bodyPartInputStreamCreationFailed(let url): "\(url.path) cannot be opened for reading"
        case .outputStreamCreationFailed(let url): "\(url.path) cannot be opened for writing"
        case .outputStreamFileAlreadyExists(let url): "\(url.path) exists already"
        case .outputStreamURLInvalid(let url): "\(redacted(url.absoluteString)) is no file URL to write to"
        case .outputStreamWriteFailed(let error): "writing failed: \(text(of: error))"
        case .inputStreamReadFailed(let error): "reading failed: \(text(of: error))"
        }
    }
}

extension AFError.ParameterEncodingFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingURL: "the request has no URL"
        case .jsonEncodingFailed(let error): "the parameters are no JSON: \(text(of: error))"
        case .customEncodingFailed(let error): "a custom encoding failed: \(text(of: error))"
        }
    }
}

extension AFError.ParameterEncoderFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingRequiredComponent(.url): "the request has no URL"
        case .missingRequiredComponent(.httpMethod(let rawValue)): "the request has no HTTP method: \"\(rawValue)\""
        case .encoderFailed(let error): text(of: error)
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
        case .customValidationFailed(let error): "custom validation failed: \(text(of: error))"
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
        case .jsonSerializationFailed(let error): "the data is no JSON: \(text(of: error))"
        case .decodingFailed(let error): "decoding failed: \(text(of: error))"
        case .customSerializationFailed(let error): "custom serializer failed: \(text(of: error))"
        case .invalidEmptyResponse(let type): "an empty response cannot be a \(type)"
        }
    }
}

extension AFError.ServerTrustFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noRequiredEvaluator(let host): "there is no evaluator for \(host), and every host must have one"
        case .noCertificatesFound: "there are no certificates to evaluate with"
        case .noPublicKeysFound: "there are no public keys to evaluate with"
        case .policyApplicationFailed(_, let policy, let status):
            "the policy \(policy) could not be applied (\(status))"
        case .settingAnchorCertificatesFailed(let status, let certificates):
            "\(CountText.words(certificates.count, "certificate")) could not become the authorities (\(status))"
        case .revocationPolicyCreationFailed: "the rules for revocation could not be made"
        case .defaultEvaluationFailed(let output), .hostValidationFailed(let output):
            output.failure?.description ?? "the certificates of \(output.host) were refused"
        case .revocationCheckFailed(let output, _):
            output.failure?.description ?? "the certificates of \(output.host) are revoked"
        case .certificatePinningFailed(let host, _, let pinned, let server):
            "no certificate of \(host) (it sent \(server.count)) is among the pinned ones (\(pinned.count))"
        case .publicKeyPinningFailed(let host, _, let pinned, let server):
            "no public key of \(host) (it sent \(server.count)) is among the pinned ones (\(pinned.count))"
        case .trustEvaluationFailed(let error): error.map(text(of:)) ?? "the chain of certificates was refused"
        case .customEvaluationFailed(let error): "custom evaluation failed: \(text(of: error))"
        }
    }
}

extension AFError.URLRequestValidationFailureReason: CustomStringConvertible {
    public var description: String {
        switch self {
        // The body may contain secrets, and is therefore not shown.
        case .bodyDataInGETRequest(let data):
            "a GET request must not have a body; this one has "
                + "\(CountText.bytes(data.count))"
        }
    }
}

/// Returns the description of a wrapped error.
private func text(of error: any Error) -> String {
    if let error = error as? any LocalizedError, let text = error.errorDescription { return redacted(text) }
    return redacted("\(error)")
}

/// Removes secrets from the URLs in a text, as errors of other code contain whole URLs within sentences.
private func redacted(_ text: String) -> String {
    guard text.contains("://") else { return text }
    var result = ""
    var word = ""
    for character in text {
        if character.isWhitespace || "\"'<>(),".contains(character) {
            result += Redaction.url(word) + String(character)
            word = ""
        } else {
            word.append(character)
        }
    }
    return result + Redaction.url(word)
}
