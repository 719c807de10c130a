import Foundation
import Synchronization

/// What was uploaded: `incoming` has what is on its way, `objects` what came whole, each time under a number of its own,
/// so that what came twice is there twice.
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

/// A file that grows as its upload does, however many connections that takes.
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

    /// It came whole.
    func keep() throws {
        guard isOpen else { return }
        isOpen = false
        try handle.close()
        try FileManager.default.moveItem(at: place, to: object)
    }

    /// Nobody will send the rest.
    func discard() {
        guard isOpen else { return }
        isOpen = false
        try? handle.close()
        try? FileManager.default.removeItem(at: place)
    }
}
