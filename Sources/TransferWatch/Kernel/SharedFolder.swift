import CTransferLinux
import Glibc

/// The test whether a folder belongs to one machine alone.
package enum SharedFolder {
    /// Returns whether other machines may have the folder too, because it is on a network file system, or will be once
    /// it exists.
    ///
    /// - Parameter path: The path of the folder. If nothing is there, the nearest existing folder above it counts.
    package static func isReachedByOthers(_ path: String) -> Bool {
        var path = path
        while access(path, F_OK) != 0, path != "/", !path.isEmpty {
            let parent = String(PathText.folder(path))
            path = parent.isEmpty ? "/" : parent
        }
        return FileSystemKind.remoteName(transfer_file_system(path)) != nil
    }
}
