import Foundation
import Synchronization

/// The store of uploads: `incoming` has the incomplete ones, and `objects` the complete ones. Each has its own number,
/// so a repeated upload is stored twice.
final class ObjectStore: Sendable {
    private let folder: URL
    private let last = Mutex(0)

    init(_ folder: URL) throws {
        self.folder = folder
        for name in ["incoming", "objects"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
    }

    func newFile() throws -> IncomingFile {
        let number = last.withLock { last in
            last += 1
            return last
        }
        return try IncomingFile(
            folder.appendingPathComponent("incoming/\(number)"),
            object: folder.appendingPathComponent("objects/\(number)"))
    }
}

/// A file that grows with its upload, over any number of connections.
final class IncomingFile {
    private let place: URL
    private let object: URL
    private let handle: FileHandle
    private var isOpen = true

    fileprivate init(_ place: URL, object: URL) throws {
        self.place = place
        self.object = object
        _ = FileManager.default.createFile(atPath: place.path, contents: nil)
        handle = try FileHandle(forWritingTo: place)
    }

    func append(_ bytes: some DataProtocol) throws { try handle.write(contentsOf: bytes) }

    /// Keeps the file of a complete upload.
    func keep() throws {
        guard isOpen else { return }
        isOpen = false
        try handle.close()
        try FileManager.default.moveItem(at: place, to: object)
    }

    /// Removes the file, since no client will send the rest.
    func discard() {
        guard isOpen else { return }
        isOpen = false
        try? handle.close()
        try? FileManager.default.removeItem(at: place)
    }
}
