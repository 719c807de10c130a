import Foundation
import Glibc
import TransferCore

extension CocoaError {
    /// Returns the failure of a move in the form that `FileManager` uses.
    ///
    /// - Parameter error: The error of the system, or one of `FileManager`, which is returned unchanged.
    static func ofMove(_ error: any Error, from source: URL, to target: URL) -> any Error {
        guard let error = error as? TransferError else { return error }
        let code = code(error)
        // The error names the file that caused the failure.
        let path = code == .fileNoSuchFile ? source.path : target.path
        var info: [String: Any] = [NSFilePathErrorKey: path, NSUnderlyingErrorKey: error]
        info[NSLocalizedDescriptionKey] = error.message
        return CocoaError(code, userInfo: info)
    }

    private static func code(_ error: TransferError) -> CocoaError.Code {
        if error.code == .fileExists { return .fileWriteFileExists }
        if error.code == .diskFull { return .fileWriteOutOfSpace }
        switch error.errno {
        case EEXIST, ENOTEMPTY: return .fileWriteFileExists
        case ENOENT: return .fileNoSuchFile
        case EACCES, EPERM: return .fileWriteNoPermission
        case ENOSPC, EDQUOT: return .fileWriteOutOfSpace
        case EROFS: return .fileWriteVolumeReadOnly
        case ENAMETOOLONG: return .fileWriteInvalidFileName
        default: return .fileWriteUnknown
        }
    }
}
