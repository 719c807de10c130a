import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine

/// The bounds of a job that somebody submitted who may not name everything of this machine: its files lie beneath one
/// folder, and its servers have public addresses.
///
/// The bounds are stored with the job, and no job file can name them.
package struct JobConfinement: Sendable, Hashable {
    /// The folder's absolute path.
    package var folder: String
    /// Whether servers may have addresses of this machine and of private networks.
    package var allowsPrivate: Bool

    package init(folder: String, allowsPrivate: Bool) {
        self.folder = folder
        self.allowsPrivate = allowsPrivate
    }

    /// Looks whether a path, or what is there of it, lies beneath the folder also when its links are followed
    /// (openat2(2), RESOLVE_BENEATH). Blocks: for workers.
    ///
    /// - Parameter path: Absolute; a folder where it ends in `/`.
    /// - Throws: `fileAccess` for one that doesn't.
    package func check(_ path: String) throws(TransferError) {
        guard let inner = Self.inner(of: path, beneath: folder) else { throw Self.refusal(path, folder) }
        let root = transfer_open_folder(folder)
        guard root >= 0 else { throw .file("open the folder", folder, errno) }
        defer { close(root) }
        // The file itself, or the innermost folder that is there already: those that are made have no links.
        var rest = inner
        while !rest.isEmpty {
            let found = transfer_open_beneath(root, rest)
            if found >= 0 {
                close(found)
                return
            }
            guard errno == ENOENT || errno == ENOTDIR else {
                throw errno == EXDEV || errno == ELOOP ? Self.refusal(path, folder) : .file("look at", path, errno)
            }
            // A link to nothing leads somewhere all the same.
            try refuseLink(root, rest, path)
            rest = rest.lastIndex(of: "/").map { String(rest[..<$0]) } ?? ""
        }
    }

    private func refuseLink(_ root: Int32, _ inner: String, _ path: String) throws(TransferError) {
        var status = stat()
        guard fstatat(root, inner, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK else {
            return
        }
        throw Self.refusal(path, folder)
    }

    static func refusal(_ path: String, _ folder: String) -> TransferError {
        TransferError(.fileAccess, "\(path) is not beneath \(folder), where this job's files have to be")
    }

    /// The part of the path beneath the folder, by its text alone.
    ///
    /// - Returns: `nil` for a path that isn't beneath it, or that goes up on its way.
    package static func inner(of path: String, beneath folder: String) -> String? {
        let root = folder == "/" ? "" : folder
        guard path.hasPrefix(root + "/") else { return nil }
        let parts = path.dropFirst(root.count + 1).split(separator: "/").filter { $0 != "." }
        guard !parts.contains(".."), !path.utf8.contains(0) else { return nil }
        return parts.joined(separator: "/")
    }
}
