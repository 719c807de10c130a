import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine

/// Functions that create missing folders and sync their names to the disk.
///
/// Symbolic links in the path are followed, unlike beneath a watched folder. The job's owner wrote the path, and a link
/// in it is the owner's choice.
package enum FolderMaker {
    /// Creates the missing folders above a path.
    ///
    /// - Returns: The folders that were created, the outermost first. Their names are durable once the folders that
    ///   hold them are synced.
    /// - Throws: `fileAccess` with the folder that cannot be created or written to.
    package static func makeParents(of path: String) throws(TransferError) -> [String] {
        let folder = parent(of: path)
        guard path.contains("/"), folder != "/" else { return [] }
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw .file("write to the folder", folder, ENOTDIR)
        }
        if access(folder, W_OK | X_OK) == 0 { return [] }
        guard errno == ENOENT else { throw .file("write to the folder", folder, errno) }
        var made = try makeParents(of: folder)
        if mkdir(folder, 0o777) == 0 {
            made.append(folder)
        } else if errno != EEXIST {
            throw .file("make the folder", folder, errno)
        }
        // The name may belong to a file, or to a link whose target is missing.
        guard access(folder + "/.", W_OK | X_OK) == 0 else {
            let number = errno
            guard number == ENOENT, lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else {
                throw .file("write to the folder", folder, number)
            }
            throw TransferError(
                .fileAccess, "the folder \(folder) is a symbolic link to nothing; make what it names, or remove it",
                cause: .os(errno: ENOENT))
        }
        return made
    }

    /// Syncs a folder, which makes new names in it durable.
    ///
    /// - Returns: Whether the names are durable. A file system that cannot sync folders (EINVAL) is trusted.
    @discardableResult
    package static func sync(_ folder: String) -> Bool {
        let descriptor = transfer_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
    }

    /// Returns the folder that holds the last component of a path.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
