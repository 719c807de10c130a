import Foundation
import Glibc
import Synchronization
import TransferCore
import TransferEngine

/// Where a form too big for memory is encoded: a file in a folder of its own that nobody else may enter, both gone
/// when `remove()` is called or the last reference goes.
final class TemporaryFormFile: Sendable {
    let url: URL
    private let folder: String
    private let fileManager: FileManager
    private let isRemoved = Mutex(false)

    /// Makes the folder; the file is the encoder's to make.
    ///
    /// - Parameter parent: Made if it isn't there.
    init(in parent: URL, fileManager: FileManager) throws {
        self.fileManager = fileManager
        try fileManager.createDirectory(at: parent, withIntermediateDirectories: true)
        // A fixed name in /tmp could be somebody else's folder, or a link; mkdtemp(3) makes a new one, mode 0700.
        var template = Array("\(parent.path)/transferkit-form.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TransferError.file("make a folder in", parent.path, errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        url = URL(fileURLWithPath: folder + "/body")
    }

    deinit { remove() }

    /// A writer that is under way keeps its open file, which is gone when it's closed.
    func remove() {
        let wasRemoved = isRemoved.withLock { isRemoved in
            defer { isRemoved = true }
            return isRemoved
        }
        guard !wasRemoved else { return }
        // One of the program's own sees it.
        guard fileManager === FileManager.default else {
            try? fileManager.removeItem(atPath: folder)
            return
        }
        unlink(url.path)
        rmdir(folder)
    }
}
