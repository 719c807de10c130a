import CTransferLinux
import Glibc
public import TransferCore

/// A folder that was opened, and by which the files in it are found whatever becomes of the names that lead to it: who puts a
/// link in the place of one of them gets nothing by it.
public final class PinnedFolder: Sendable {
    private let descriptor: Int32
    /// The path by which it was found.
    public let path: String

    /// - Parameters:
    ///   - descriptor: An open folder, which is closed with this object.
    ///   - path: Absolute, without a slash at its end.
    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Another path to the file of that name in the folder: it goes through the descriptor (proc(5)).
    ///
    /// - Parameter path: One of the folder's files; what else it says of folders counts for nothing.
    public func place(of path: String) -> String { "/proc/self/fd/\(descriptor)/\(Self.name(path))" }

    /// The path that people know, of a place in the folder.
    public func path(of place: String) -> String { "\(path)/\(Self.name(place))" }

    private static func name(_ path: String) -> Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }

    /// Opens a file of the folder for reading, and no link (openat2(2): RESOLVE_NO_SYMLINKS), and gives `body` a path to
    /// what was opened.
    ///
    /// - Throws: `fileAccess` for what can't be opened so; what `body` throws.
    public func reading<Value>(
        _ path: String, _ body: (String) throws(TransferError) -> Value
    ) throws(TransferError) -> Value {
        let file = transfer_open_plain(descriptor, String(Self.name(path)))
        guard file >= 0 else { throw .file("open", path, errno) }
        defer { close(file) }
        return try body("/proc/self/fd/\(file)")
    }
}

// A file is found by its path, or where that is pinned by its folder.
extension Optional where Wrapped == PinnedFolder {
    public func place(of path: String) -> String { self?.place(of: path) ?? path }

    public func path(of place: String) -> String { self?.path(of: place) ?? place }

    public func reading<Value>(
        _ path: String, _ body: (String) throws(TransferError) -> Value
    ) throws(TransferError) -> Value {
        guard let self else { return try body(path) }
        return try self.reading(path, body)
    }
}
