import CTransferLinux
import Glibc

/// A partial file of a process that had the job before this one, on storage that may be another machine's too.
///
/// The earlier process may live, cut off from everybody else, and write on: its file is never written to by another one.
public struct PartLegacy {
    private let path: String
    private let folder: PinnedFolder?

    /// - Parameters:
    ///   - path: Its path.
    ///   - folder: The folder of the path, where it's pinned.
    public init(_ path: String, in folder: PinnedFolder? = nil) {
        self.path = path
        self.folder = folder
    }

    /// Gives the file another name, if nobody has it open for writing. Blocks.
    ///
    /// - Returns: Whether it has the name now.
    public func take(as name: String) -> Bool {
        let (old, new) = (folder.place(of: path), folder.place(of: name))
        let descriptor = transfer_open(old, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Without locks nobody can tell.
        guard transfer_lock(descriptor) == 0, transfer_rename_new(old, new) == 0 else { return false }
        _ = transfer_rename_new(SegmentLog.path(of: old), SegmentLog.path(of: new))
        _ = transfer_rename_new(PartFile.asidePath(of: old), PartFile.asidePath(of: new))
        return true
    }

    /// Takes the file's name away, which bears its owner and so is nobody else's: who has it open writes to a file that nobody
    /// sees. Blocks.
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
