import CTransferLinux
import Glibc

/// The opening of folders beneath a watched one, name by name from the folder before. No user can thus insert a link
/// that leads out of the watched folder.
package enum FolderWalk {
    /// Opens a folder as a base for lookups. Links in its path are followed, because its owner named it so.
    ///
    /// - Returns: A descriptor, which the caller must close, or the negative error number.
    package static func open(root: String) -> Int32 { transfer_open_place(AT_FDCWD, root, 1) }

    /// Opens a folder beneath another one. No link is followed.
    ///
    /// - Parameters:
    ///   - path: The path from `folder` on; empty for that folder itself.
    ///   - folder: A descriptor, which stays open.
    /// - Returns: A descriptor, which the caller must close, or the negative error number.
    package static func open(_ path: String, beneath folder: Int32) -> Int32 {
        var current = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard current >= 0 else { return -errno }
        for name in PathText.components(path) {
            let next = transfer_open_place(current, name, 0)
            close(current)
            guard next >= 0 else { return next }
            current = next
        }
        return current
    }
}
