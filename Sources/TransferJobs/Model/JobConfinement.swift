import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine

/// The bounds of a job from a submitter without access to the whole machine. Its files must be beneath one folder, and
/// its servers must have public addresses.
///
/// The bounds are stored with the job; no job file can set them.
package struct JobConfinement: Sendable, Hashable {
    /// The folder's absolute path.
    package var folder: String
    /// Whether servers may have addresses of this machine and of private networks.
    package var allowsPrivate: Bool

    package init(folder: String, allowsPrivate: Bool) {
        self.folder = folder
        self.allowsPrivate = allowsPrivate
    }

    /// Checks that a path, or its existing part, is beneath the folder even when its links are followed (openat2(2),
    /// RESOLVE_BENEATH). It blocks, so it belongs on worker threads.
    ///
    /// - Parameter path: An absolute path, which ends in `/` for a folder.
    /// - Throws: `fileAccess` for a path that is not beneath the folder.
    package func check(_ path: String) throws(TransferError) {
        guard let inner = Self.inner(of: path, beneath: folder) else { throw Self.refusal(path, folder) }
        let root = transfer_open_folder(folder)
        guard root >= 0 else { throw .file("open the folder", folder, errno) }
        defer { close(root) }
        // The check is made for the file itself, or for the innermost existing folder: folders created later contain no
        // links.
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
            // A link without a target could still lead elsewhere.
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

    /// Returns the part of the path beneath the folder, by its text alone.
    ///
    /// - Returns: `nil` for a path that is not beneath the folder, or that contains `..`.
    package static func inner(of path: String, beneath folder: String) -> String? {
        let root = folder == "/" ? "" : folder
        guard path.hasPrefix(root + "/") else { return nil }
        let parts = path.dropFirst(root.count + 1).split(separator: "/").filter { $0 != "." }
        guard !parts.contains(".."), !path.utf8.contains(0) else { return nil }
        return parts.joined(separator: "/")
    }
}
