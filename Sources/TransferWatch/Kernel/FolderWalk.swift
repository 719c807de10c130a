import CTransferLinux
import Glibc

/// The way in which folders beneath a watched one are looked up: from name to name, each from the folder before it, so that
/// nobody can put a link in between that leads out of the watched folder.
package enum FolderWalk {
    /// Opens a folder for looking things up from it. Links in its path are followed, as its owner named it so.
    ///
    /// - Returns: A descriptor, for the caller to close, or the error's number below zero.
    package static func open(root: String) -> Int32 { transfer_open_place(AT_FDCWD, root, 1) }

    /// Opens a folder beneath another one. No link is followed.
    ///
    /// - Parameters:
    ///   - path: From `folder` on; empty for that folder itself.
    ///   - folder: A descriptor, which stays open.
    /// - Returns: A descriptor, for the caller to close, or the error's number below zero.
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
