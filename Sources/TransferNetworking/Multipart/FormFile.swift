import Foundation
import TransferCore
import TransferEngine

/// A file that is to be a part, looked at when it's added.
enum FormFile {
    struct Refusal: Error {
        let reason: AFError.MultipartEncodingFailureReason
    }

    /// Opens the file, so that one that can't be read is told now and not half-way through an upload.
    static func size(of url: URL) throws(Refusal) -> UInt64 {
        let path = url.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw Refusal(reason: .bodyPartFileIsDirectory(at: url))
        }
        do { return UInt64(try SourceFile(path).size) } catch {
            throw Refusal(reason: .bodyPartFileNotReachableWithError(atURL: url, error: error))
        }
    }
}
