import Foundation
import Glibc
import TransferCore

extension CocoaError {
    /// The failure of a move in the form in which `FileManager` has it.
    ///
    /// - Parameter error: Of the system, or one of `FileManager`'s own, which is as it is.
    static func ofMove(_ error: any Error, from source: URL, to target: URL) -> any Error {
        guard let error = error as? TransferError else { return error }
        let code = code(error)
        // The file that is named is the one that is at fault.
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
