import CTransferLinux
import Glibc
package import TransferCore
package import TransferEngine

// A check of a path does not hold for its later use, since folders may be replaced by links meanwhile. The code
// therefore uses the descriptors that it opened.
extension JobConfinement {
    /// Opens the folder of a path beneath the confinement's folder, and creates its missing folders (openat2(2),
    /// RESOLVE_BENEATH). It blocks, so it belongs on worker threads.
    ///
    /// - Parameter path: The absolute path of a file.
    /// - Returns: The folder, through which its files must be accessed, and the folders that were created, the
    ///   outermost first.
    /// - Throws: `fileAccess` for a path that is not beneath the confinement's folder.
    package func pin(folderOf path: String) throws(TransferError) -> (folder: PinnedFolder, made: [String]) {
        guard let inner = Self.inner(of: path, beneath: folder) else { throw Self.refusal(path, folder) }
        let root = transfer_open_folder(folder)
        guard root >= 0 else { throw .file("open the folder", folder, errno) }
        defer { close(root) }
        var made: [String] = []
        let descriptor = try open(inner.split(separator: "/").dropLast(), root, path, &made)
        return (PinnedFolder(descriptor: descriptor, path: FolderMaker.parent(of: path)), made)
    }

    /// Opens a file beneath the confinement's folder for reading. It blocks, so it belongs on worker threads.
    ///
    /// - Parameter path: The absolute path of the file.
    /// - Throws: `fileMissing`; `fileAccess` for a path that is not beneath the confinement's folder.
    package func open(_ path: String) throws(TransferError) -> Int32 {
        guard let inner = Self.inner(of: path, beneath: folder), !inner.isEmpty else {
            throw Self.refusal(path, folder)
        }
        let root = transfer_open_folder(folder)
        guard root >= 0 else { throw .file("open the folder", folder, errno) }
        defer { close(root) }
        let descriptor = transfer_open_beneath_as(root, inner, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault(errno, "open", path) }
        return descriptor
    }

    private func open(
        _ names: ArraySlice<Substring>, _ root: Int32, _ path: String, _ made: inout [String]
    ) throws(TransferError) -> Int32 {
        // Each step starts at the confinement's folder, so that links within it work and no link leads out of it.
        let inner = names.joined(separator: "/")
        let found = names.isEmpty ? fcntl(root, F_DUPFD_CLOEXEC, 0) : transfer_open_folder_beneath(root, inner)
        if found >= 0 { return found }
        guard errno == ENOENT, let name = names.last else { throw fault(errno, "open the folder of", path) }
        let parent = try open(names.dropLast(), root, path, &made)
        defer { close(parent) }
        if transfer_make_folder_at(parent, String(name)) == 0 {
            made.append((folder == "/" ? "" : folder) + "/" + inner)
        } else if errno != EEXIST {
            throw .file("make the folder of", path, errno)
        }
        let again = transfer_open_folder_beneath(root, inner)
        // The name exists and leads to nothing, so it is a link.
        guard again >= 0 else {
            throw errno == ENOENT ? Self.refusal(path, folder) : fault(errno, "open the folder of", path)
        }
        return again
    }

    private func fault(_ number: Int32, _ act: String, _ path: String) -> TransferError {
        number == EXDEV || number == ELOOP ? Self.refusal(path, folder) : .file(act, path, number)
    }
}
