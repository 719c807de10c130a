public import Foundation
import FoundationNetworking
public import TransferCore

extension URLError {
    private static let transferErrorKey = "TransferError"

    /// The failure underneath, with its cause (libcurl's code, errno) and whether it's transient.
    public var transferError: TransferError? { userInfo[Self.transferErrorKey] as? TransferError }

    /// The failure as programs written for URLSession expect it.
    init(_ error: TransferError) {
        self.init(
            Self.code(error.code),
            userInfo: [NSLocalizedDescriptionKey: error.message, Self.transferErrorKey: error])
    }

    private static func code(_ code: TransferError.Code) -> URLError.Code {
        switch code {
        case .cannotResolveHost: .cannotFindHost
        case .cannotConnect, .originUnreachable, .proxyRefused: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .timedOut, .tooSlow: .timedOut
        case .secureConnectionFailed: .secureConnectionFailed
        case .certificateRefused: .serverCertificateUntrusted
        case .badResponse, .httpStatus, .changedDuringTransfer: .badServerResponse
        case .tooManyRedirects: .httpTooManyRedirects
        case .redirectRefused: .redirectToNonExistentLocation
        case .badURL: .unsupportedURL
        case .fileMissing: .fileDoesNotExist
        case .diskFull: .cannotWriteToFile
        case .fileAccess, .fileExists, .fileLocked: .cannotOpenFile
        case .sourceChanged, .bodyStreamConsumed, .bodyStreamFailed: .requestBodyStreamExhausted
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}
