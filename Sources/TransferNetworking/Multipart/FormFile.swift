import Foundation
import TransferCore
import TransferEngine

/// A file that becomes a part of a form; it is examined when it is added.
enum FormFile {
    struct Refusal: Error {
        let reason: AFError.MultipartEncodingFailureReason
    }

    /// Returns the file's size in bytes. The file is opened, so that an unreadable one is reported now and not during
    /// an upload.
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
