import CTransferLinux
import Glibc
import TransferCore

/// A folder that is held, not opened: names are looked up from it (``FolderWalk``).
struct Place: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The folder at a path, links in it followed.
    static func root(_ path: String) throws(TransferError) -> Place {
        let descriptor = FolderWalk.open(root: path)
        guard descriptor >= 0 else { throw SystemText.fault(path, -descriptor) }
        return Place(descriptor: descriptor)
    }

    /// A folder beneath this one, no link followed.
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

    /// Where it is, as the kernel sees it; nowhere without `/proc`, and then no link leads inside.
    var realPath: String { TextFile.link("/proc/self/fd/\(descriptor)") ?? "\0" }
}
