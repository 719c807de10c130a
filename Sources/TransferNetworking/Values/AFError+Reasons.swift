public import Foundation
public import TransferCrypto

extension AFError {
    /// Why a multipart body could not be made.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL of a part is no file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL of a part has no file name to send.
        case bodyPartFilenameInvalid(in: URL)
        /// The file of a part does not exist.
        case bodyPartFileNotReachable(at: URL)
        /// Whether the file of a part exists could not be found out.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The file of a part is a folder.
        case bodyPartFileIsDirectory(at: URL)
        /// The system doesn't tell the size of a part's file.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// Asking for the size of a part's file failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file of a part can't be opened for reading.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file for the body can't be opened for writing.
        case outputStreamCreationFailed(for: URL)
        /// There is a file already where the body should be written.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL for the body is no file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the body failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// A stream of a multipart body ended before or after the length given for it.
    public struct UnexpectedInputStreamLength: Error, Sendable, Equatable {
        /// The length that was promised, in bytes.
        public var bytesExpected: UInt64
        /// The length that was there, in bytes.
        public var bytesRead: UInt64

        public init(bytesExpected: UInt64, bytesRead: UInt64) {
            self.bytesExpected = bytesExpected
            self.bytesRead = bytesRead
        }
    }

    /// Why a `ParameterEncoding` failed.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL to put a query in.
        case missingURL
        /// The parameters are no JSON.
        case jsonEncodingFailed(error: any Error)
        /// An encoding of the program's own failed.
        case customEncodingFailed(error: any Error)
    }

    /// Why a `ParameterEncoder` failed.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A component that a request must have for its parameters to be encoded.
        public enum RequiredComponent: Sendable, Equatable {
            case url
            /// The method; `rawValue` is what stands in its place.
            case httpMethod(rawValue: String)
        }

        /// The request lacks something.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder threw.
        case encoderFailed(error: any Error)
    }

    /// Why a response was refused.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no downloaded file.
        case dataFileNil
        /// The downloaded file can't be read.
        case dataFileReadFailed(at: URL)
        /// The response names no type, and not every type is accepted.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has a type that's not among the accepted ones.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status is not among the accepted ones.
        case unacceptableStatusCode(code: Int)
        /// A validation of the program's own refused it.
        case customValidationFailed(error: any Error)
    }

    /// Why a body could not be turned into a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// There are no bytes, and neither method nor status allows that.
        case inputDataNilOrZeroLength
        /// There is no downloaded file.
        case inputFileNil
        /// The downloaded file can't be read.
        case inputFileReadFailed(at: URL)
        /// The bytes are no text in that encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The bytes are no JSON.
        case jsonSerializationFailed(error: any Error)
        /// The decoder refused the bytes.
        case decodingFailed(error: any Error)
        /// A serializer of the program's own failed.
        case customSerializationFailed(error: any Error)
        /// There are no bytes, and the named type has no empty value.
        case invalidEmptyResponse(type: String)
    }

    /// Why a server was not trusted.
    public enum ServerTrustFailureReason: Sendable {
        /// All hosts must be evaluated, and there is no evaluator for this one.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to pin.
        case noCertificatesFound
        /// There are no public keys to pin.
        case noPublicKeysFound
        /// A policy of the program's own can't be applied; the evaluators here never throw it.
        case policyApplicationFailed(trust: SecTrust, policy: SecPolicy, status: OSStatus)
        /// Certificates can't become the authorities; the evaluators here never throw it.
        case settingAnchorCertificatesFailed(status: OSStatus, certificates: [SecCertificate])
        /// The rules for revocation can't be made.
        case revocationPolicyCreationFailed
        /// The certificates were refused: the chain, the host or a certificate that is revoked. The error of the evaluators
        /// here is a `TrustFailure`, which tells the kind.
        case trustEvaluationFailed(error: (any Error)?)
        /// The certificate chain was refused; the evaluators here throw `trustEvaluationFailed`.
        case defaultEvaluationFailed(output: Output)
        /// The certificate is for other hosts; the evaluators here throw `trustEvaluationFailed`.
        case hostValidationFailed(output: Output)
        /// A certificate is revoked; the evaluators here throw `trustEvaluationFailed`.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// The server's chain has none of the pinned certificates.
        case certificatePinningFailed(
            host: String, trust: SecTrust, pinnedCertificates: [SecCertificate], serverCertificates: [SecCertificate])
        /// The server's chain has none of the pinned public keys.
        case publicKeyPinningFailed(host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
        /// An evaluator of the program's own refused it.
        case customEvaluationFailed(error: any Error)

        /// The result of an evaluation.
        public struct Output: Sendable {
            /// The host that was asked for.
            public let host: String
            /// The certificates that the server showed.
            public let trust: SecTrust
            /// OpenSSL's code (X509_STORE_CTX_get_error(3)); 0 where the rule isn't OpenSSL's.
            public let status: OSStatus
            public let result: SecTrustResultType
            /// Why it was refused.
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

    /// Why a request must not be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET has no use for a body (RFC 9110 §9.3.1); servers may refuse it or close the connection.
        case bodyDataInGETRequest(Data)
    }
}
