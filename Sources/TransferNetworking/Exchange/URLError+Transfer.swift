public import Foundation
import FoundationNetworking
public import TransferCore

extension URLError {
    private static let transferErrorKey = "TransferError"

    /// The underlying failure, with its cause (libcurl's code, errno) and whether it is transient.
    public var transferError: TransferError? { userInfo[Self.transferErrorKey] as? TransferError }

    /// Makes the error that programs written for URLSession expect.
    ///
    /// - Parameter code: A code that replaces the one derived from the failure.
    init(_ error: TransferError, as code: URLError.Code? = nil) {
        self.init(
            code ?? Self.code(error),
            userInfo: [NSLocalizedDescriptionKey: error.message, Self.transferErrorKey: error])
    }

    private static func code(_ error: TransferError) -> URLError.Code {
        switch error.code {
        case .cannotResolveHost: .cannotFindHost
        case .cannotConnect, .originUnreachable, .tooManyConnections, .proxyRefused: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .timedOut, .tooSlow: .timedOut
        case .secureConnectionFailed: .secureConnectionFailed
        case .certificateRefused: certificateCode(error.cause)
        case .badResponse where error.cause == .curl(61): .cannotDecodeContentData  // CURLE_BAD_CONTENT_ENCODING
        case .badResponse, .httpStatus, .changedDuringTransfer: .badServerResponse
        case .tooManyRedirects: .httpTooManyRedirects
        case .redirectRefused: .redirectToNonExistentLocation
        case .badURL: .unsupportedURL
        case .fileMissing: .fileDoesNotExist
        case .diskFull: .cannotWriteToFile
        case .fileAccess, .fileExists, .fileLocked, .partNotOurs: .cannotOpenFile
        case .sourceChanged, .bodyStreamConsumed, .bodyStreamFailed: .requestBodyStreamExhausted
        case .cancelled: .cancelled
        default: .unknown
        }
    }

    private static func certificateCode(_ cause: TransferError.Cause?) -> URLError.Code {
        guard case .certificate(let number) = cause else { return .serverCertificateUntrusted }
        // X509_STORE_CTX_get_error(3)
        return switch number {
        case 9: .serverCertificateNotYetValid
        case 10: .serverCertificateHasBadDate
        case 2, 20: .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }
}

extension AFError {
    /// Returns the same failure of a task with resume data, at the place where programs look for it.
    func carrying(_ resumeData: Data?) -> AFError {
        guard let resumeData, case .sessionTaskFailed(let cause as URLError) = self else { return self }
        var info = cause.userInfo
        info[NSURLSessionDownloadTaskResumeData] = resumeData
        return .sessionTaskFailed(error: URLError(cause.code, userInfo: info))
    }
}
