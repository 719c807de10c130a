import Foundation
import Glibc
import Synchronization
import TransferCore
import TransferEngine

/// The temporary file of a form that is too large for memory, in a folder that no other user may enter. `remove()`, or
/// the release of the last reference, removes both.
final class TemporaryFormFile: Sendable {
    let url: URL
    private let folder: String
    private let fileManager: FileManager
    private let isRemoved = Mutex(false)

    /// Makes the folder; the encoder makes the file.
    ///
    /// - Parameter parent: The parent folder, which is made if it does not exist.
    init(in parent: URL, fileManager: FileManager) throws {
        self.fileManager = fileManager
        try fileManager.createDirectory(at: parent, withIntermediateDirectories: true)
        // A fixed name in /tmp could be another user's folder or link. mkdtemp(3) makes a new folder
        // with mode 0700.
        var template = Array("\(parent.path)/transferkit-form.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TransferError.file("make a folder in", parent.path, errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        url = URL(fileURLWithPath: folder + "/body")
    }

    deinit { remove() }

    /// Removes the file and its folder. An encoder that still writes keeps its open descriptor.
    func remove() {
        let wasRemoved = isRemoved.withLock { isRemoved in
            defer { isRemoved = true }
            return isRemoved
        }
        guard !wasRemoved else { return }
        // The program's own file manager has to know of the removal.
        guard fileManager === FileManager.default else {
            try? fileManager.removeItem(atPath: folder)
            return
        }
        unlink(url.path)
        rmdir(folder)
    }
}
