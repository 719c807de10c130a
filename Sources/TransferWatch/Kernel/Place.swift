import CTransferLinux
import Glibc
import TransferCore

/// A folder that is held by a descriptor only for lookups from it (``FolderWalk``).
struct Place: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Holds the folder at a path; links in the path are followed.
    static func root(_ path: String) throws(TransferError) -> Place {
        let descriptor = FolderWalk.open(root: path)
        guard descriptor >= 0 else { throw SystemText.fault(path, -descriptor) }
        return Place(descriptor: descriptor)
    }

    /// Holds a folder beneath this one; no link is followed.
    ///
    /// - Throws: `fileMissing`, also for a link.
    func folder(_ path: some StringProtocol) throws(TransferError) -> Place {
        let path = String(path)
        let descriptor = FolderWalk.open(path, beneath: descriptor)
        guard descriptor >= 0 else { throw SystemText.fault(path, -descriptor) }
        return Place(descriptor: descriptor)
    }

    var identity: FolderIdentity? {
        var look = transfer_file_look()
        guard transfer_look_at_descriptor(descriptor, &look) == 0 else { return nil }
        return FolderIdentity(device: look.device, inode: look.inode)
    }

    /// The folder's path in the kernel's view. Without `/proc`, it is an impossible path, so that no link counts as
    /// inside.
    var realPath: String { TextFile.link("/proc/self/fd/\(descriptor)") ?? "\0" }
}
