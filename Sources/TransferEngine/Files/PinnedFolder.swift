import CTransferLinux
import Glibc
public import TransferCore

/// An open folder, by which its files are found even if the names that lead to it change.
///
/// An attacker that replaces one of these names by a link gains nothing.
public final class PinnedFolder: Sendable {
    private let descriptor: Int32
    /// The path by which the folder was found.
    public let path: String

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - descriptor: An open folder, which is closed with this object.
    ///   - path: The absolute path, without a slash at its end.
    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Returns another path to the file of that name in the folder, through the descriptor (proc(5)).
    ///
    /// - Parameter path: A path to one of the folder's files; only its last component counts.
    public func place(of path: String) -> String { "/proc/self/fd/\(descriptor)/\(Self.name(path))" }

    /// Returns the path of a place in the folder, for people.
    public func path(of place: String) -> String { "\(path)/\(Self.name(place))" }

    private static func name(_ path: String) -> Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }

    /// Opens a file of the folder for reading and passes its path to `body`. Links are refused (openat2(2):
    /// RESOLVE_NO_SYMLINKS).
    ///
    /// - Throws: `fileAccess` for a file that cannot be opened this way; any error of `body`.
    public func reading<Value>(
        _ path: String, _ body: (String) throws(TransferError) -> Value
    ) throws(TransferError) -> Value {
        let file = transfer_open_plain(descriptor, String(Self.name(path)))
        guard file >= 0 else { throw .file("open", path, errno) }
        defer { close(file) }
        return try body("/proc/self/fd/\(file)")
    }
}

// The path of a file, through its folder where that is pinned.
extension Optional where Wrapped == PinnedFolder {
    /// Returns the path by which system calls reach a file of the folder; the path itself without a pinned folder.
    public func place(of path: String) -> String { self?.place(of: path) ?? path }

    /// Returns the path of a place in the folder, for people; the place itself without a pinned folder.
    public func path(of place: String) -> String { self?.path(of: place) ?? place }

    /// Opens a file for reading and passes its path to `body`; without a pinned folder `body` gets the path itself.
    ///
    /// - Throws: `fileAccess` for a file of a pinned folder that cannot be opened; any error of `body`.
    public func reading<Value>(
        _ path: String, _ body: (String) throws(TransferError) -> Value
    ) throws(TransferError) -> Value {
        guard let self else { return try body(path) }
        return try self.reading(path, body)
    }
}
