import CTransferLinux
import Glibc
package import TransferCore
package import TransferEngine

// A look at a path says nothing of the next one: folders may become links in between. So what is used is what was opened.
extension JobConfinement {
    /// Opens the folder of a path, beneath the confinement's, and makes what is missing of it (openat2(2),
    /// RESOLVE_BENEATH). Blocks: for workers.
    ///
    /// - Parameter path: Of a file; absolute.
    /// - Returns: The folder, by which its files are to be reached, and the folders that were made, the outermost first.
    /// - Throws: `fileAccess` for one that isn't beneath it.
    package func pin(folderOf path: String) throws(TransferError) -> (folder: PinnedFolder, made: [String]) {
        guard let inner = Self.inner(of: path, beneath: folder) else { throw Self.refusal(path, folder) }
        let root = transfer_open_folder(folder)
        guard root >= 0 else { throw .file("open the folder", folder, errno) }
        defer { close(root) }
        var made: [String] = []
        let descriptor = try open(inner.split(separator: "/").dropLast(), root, path, &made)
        return (PinnedFolder(descriptor: descriptor, path: FolderMaker.parent(of: path)), made)
    }

    /// Opens a file beneath the confinement's folder for reading. Blocks: for workers.
    ///
    /// - Parameter path: Absolute.
    /// - Throws: `fileMissing`; `fileAccess` for one that isn't beneath it.
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
        // From the confinement's folder on each time: a link within it is one, and none leads out of it.
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
        // The name is there and leads to nothing: a link's.
        guard again >= 0 else {
            throw errno == ENOENT ? Self.refusal(path, folder) : fault(errno, "open the folder of", path)
        }
        return again
    }

    private func fault(_ number: Int32, _ act: String, _ path: String) -> TransferError {
        number == EXDEV || number == ELOOP ? Self.refusal(path, folder) : .file(act, path, number)
    }
}
