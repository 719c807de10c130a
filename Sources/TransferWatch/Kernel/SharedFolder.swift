import CTransferLinux
import Glibc

/// Whether a folder is one machine's alone.
package enum SharedFolder {
    /// Whether other machines may have the folder, too: it's on a file system of a network, or will be when it's there.
    ///
    /// - Parameter path: Where there is nothing, the nearest folder above it counts.
    package static func isReachedByOthers(_ path: String) -> Bool {
        var path = path
        while access(path, F_OK) != 0, path != "/", !path.isEmpty {
            let parent = String(PathText.folder(path))
            path = parent.isEmpty ? "/" : parent
        }
        return FileSystemKind.remoteName(transfer_file_system(path)) != nil
    }
}
