import CTransferLinux
import Glibc

/// The partial file of a process that had the job before this one, on storage that several machines may share.
///
/// The earlier process may be cut off from the others and continue to write: no other process ever writes to its file.
public struct PartLegacy {
    private let path: String
    private let folder: PinnedFolder?

    /// Creates the value; no file is touched.
    ///
    /// - Parameters:
    ///   - path: The path of the partial file.
    ///   - folder: The folder of the path, where it is pinned.
    public init(_ path: String, in folder: PinnedFolder? = nil) {
        self.path = path
        self.folder = folder
    }

    /// Renames the file, if no process has it open for writing. The call blocks.
    ///
    /// - Returns: Whether the file has the new name now.
    public func take(as name: String) -> Bool {
        let (old, new) = (folder.place(of: path), folder.place(of: name))
        let descriptor = transfer_open(old, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Without locks a writer cannot be detected.
        guard transfer_lock(descriptor) == 0, transfer_rename_new(old, new) == 0 else { return false }
        _ = transfer_rename_new(SegmentLog.path(of: old), SegmentLog.path(of: new))
        _ = transfer_rename_new(PartFile.asidePath(of: old), PartFile.asidePath(of: new))
        return true
    }

    /// Removes the file's name, which contains its owner and so belongs to no other process.
    ///
    /// A process that has the file open writes to an invisible file. The call blocks.
    public func remove() {
        let place = folder.place(of: path)
        let descriptor = transfer_open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return }
        SegmentLog.remove(beside: SegmentLog.Part(place: place, descriptor))
        if PartFile.look(PartFile.asidePath(of: place))?.record != nil { unlink(PartFile.asidePath(of: place)) }
        unlink(place)
    }
}
