public import Foundation
public import TransferCrypto

extension AFError {
    /// The reason why a multipart body could not be created.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL of a part is not a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL of a part has no file name to send.
        case bodyPartFilenameInvalid(in: URL)
        /// The file of a part does not exist.
        case bodyPartFileNotReachable(at: URL)
        /// The existence of a part's file could not be determined.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The file of a part is a folder.
        case bodyPartFileIsDirectory(at: URL)
        /// The size of a part's file is unknown.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// The query for the size of a part's file failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file of a part cannot be opened for reading.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file for the body cannot be opened for writing.
        case outputStreamCreationFailed(for: URL)
        /// The file for the body exists already.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL for the body is not a file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the body failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// The error for a stream of a multipart body that does not have its declared length.
    public struct UnexpectedInputStreamLength: Error, Sendable, Equatable {
        /// The declared length, in bytes.
        public var bytesExpected: UInt64
        /// The actual length, in bytes.
        public var bytesRead: UInt64

        /// Creates the error with both lengths.
        public init(bytesExpected: UInt64, bytesRead: UInt64) {
            self.bytesExpected = bytesExpected
            self.bytesRead = bytesRead
        }
    }

    /// The reason why a `ParameterEncoding` failed.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL, and thus no place for a query.
        case missingURL
        /// The parameters cannot be written as JSON.
        case jsonEncodingFailed(error: any Error)
        /// A custom encoding of the program failed.
        case customEncodingFailed(error: any Error)
    }

    /// The reason why a `ParameterEncoder` failed.
    public enum ParameterEncoderFailureReason: Sendable {
        /// The component that a request must have for its parameters to be encoded.
        public enum RequiredComponent: Sendable, Equatable {
            case url
            /// The method; `rawValue` is the text in its place.
            case httpMethod(rawValue: String)
        }

        /// The request lacks a component.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder threw an error.
        case encoderFailed(error: any Error)
    }

    /// The reason why a response was refused.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no downloaded file.
        case dataFileNil
        /// The downloaded file cannot be read.
        case dataFileReadFailed(at: URL)
        /// The response names no type, and not every type is accepted.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has a type that is not acceptable.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A custom validation of the program refused the response.
        case customValidationFailed(error: any Error)
    }

    /// The reason why a body could not be serialized.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty, and neither method nor status permits that.
        case inputDataNilOrZeroLength
        /// There is no downloaded file.
        case inputFileNil
        /// The downloaded file cannot be read.
        case inputFileReadFailed(at: URL)
        /// The bytes are not text in that encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The bytes are not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The decoder refused the bytes.
        case decodingFailed(error: any Error)
        /// A custom serializer of the program failed.
        case customSerializationFailed(error: any Error)
        /// The body is empty, and the named type has no empty value.
        case invalidEmptyResponse(type: String)
    }

    /// The reason why a server was not trusted.
    public enum ServerTrustFailureReason: Sendable {
        /// All hosts must be evaluated, and there is no evaluator for this one.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to pin.
        case noCertificatesFound
        /// There are no public keys to pin.
        case noPublicKeysFound
        /// A policy of the program cannot be applied; this library's evaluators never throw this.
        case policyApplicationFailed(trust: SecTrust, policy: SecPolicy, status: OSStatus)
        /// Certificates cannot become the authorities; this library's evaluators never throw this.
        case settingAnchorCertificatesFailed(status: OSStatus, certificates: [SecCertificate])
        /// The rules for revocation cannot be created.
        case revocationPolicyCreationFailed
        /// The certificates were refused: the chain, the host or a revoked certificate. The error of this library's
        /// evaluators is a `TrustFailure`, which has the kind.
        case trustEvaluationFailed(error: (any Error)?)
        /// The certificate chain was refused; this library's evaluators throw `trustEvaluationFailed` instead.
        case defaultEvaluationFailed(output: Output)
        /// The certificate is for other hosts; this library's evaluators throw `trustEvaluationFailed` instead.
        case hostValidationFailed(output: Output)
        /// A certificate is revoked; this library's evaluators throw `trustEvaluationFailed` instead.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// The server's chain has none of the pinned certificates.
        case certificatePinningFailed(
            host: String, trust: SecTrust, pinnedCertificates: [SecCertificate], serverCertificates: [SecCertificate])
        /// The server's chain has none of the pinned public keys.
        case publicKeyPinningFailed(host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
        /// An evaluator of the program refused the server.
        case customEvaluationFailed(error: any Error)

        /// The result of an evaluation.
        public struct Output: Sendable {
            /// The host of the request.
            public let host: String
            /// The certificates that the server sent.
            public let trust: SecTrust
            /// The code of OpenSSL (X509_STORE_CTX_get_error(3)); 0 for rules of other origin.
            public let status: OSStatus
            /// The kind of the result.
            public let result: SecTrustResultType
            /// The reason for the refusal.
            public let failure: TrustFailure?

            init(_ host: String, _ trust: SecTrust, _ failure: TrustFailure) {
                self.host = host
                self.trust = trust
                status = failure.code
                result = SecTrustResultType(failure)
                self.failure = failure
            }
        }
    }

    /// The reason why a URL request must not be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET has a body, for which it has no use (RFC 9110 §9.3.1). Servers may refuse it or close the connection.
        case bodyDataInGETRequest(Data)
    }
}
