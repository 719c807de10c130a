import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine

/// Makes folders that a file needs, and has the names in them on the disk.
///
/// Links in the path are followed, unlike beneath a watched folder: the path is what the job's owner wrote, and a link in it
/// is the owner's way of saying where files go.
package enum FolderMaker {
    /// - Returns: The folders that were made, the outermost first. Their names are durable once those that hold them are
    ///   synced.
    /// - Throws: `fileAccess` that names the folder that couldn't be made or written to.
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
        // The name may be a file's, or a link's to nothing.
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

    /// A new name is durable when its folder is.
    ///
    /// - Returns: Whether it is; some file systems can't sync a folder (EINVAL), and are trusted.
    @discardableResult
    package static func sync(_ folder: String) -> Bool {
        let descriptor = transfer_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
    }

    /// The folder that has this name in it.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
