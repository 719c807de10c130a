import CTransferLinux
import Glibc
import TransferCore

/// A folder of a disk of this machine, of which a loop may open files: those that the kernel has in memory, for which
/// nobody waits.
///
/// Links are followed, unlike beneath a watched folder: the path of a source is what the job's owner wrote, and it leads
/// where it leads when the file is opened in any other way.
public final class CachedFolder: Sendable {
    /// Absolute, with the slash at its end.
    let path: String
    let descriptor: Int32

    /// The folder that a file is in. Blocks: for workers.
    ///
    /// - Returns: `nil` where a file system may have to ask somebody else before it opens a file, and where the folder
    ///   isn't to be opened.
    public init?(of file: String) {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        // The name begins behind the byte: a character may go on where the name begins.
        let path = String(file[..<file.utf8.index(after: slash)])
        let descriptor = transfer_open_folder(path)
        guard descriptor >= 0 else { return nil }
        guard Self.diskFileSystems.contains(transfer_file_system_of(descriptor) & 0xFFFF_FFFF) else {
            close(descriptor)
            return nil
        }
        // Not before: what has all that it's made of is also unmade, which closes it.
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// - Returns: An open descriptor, for the caller to close; `nil` for a file that isn't in this folder, isn't
    ///   there, or is to be waited for.
    func open(_ file: String) -> Int32? {
        let length = path.utf8.count
        let opened = file.withCString { file -> Int32 in
            // By bytes, which is what paths are.
            guard path.withCString({ strncmp(file, $0, length) }) == 0 else { return -1 }
            let name = file + length
            guard strchr(name, Int32(UInt8(ascii: "/"))) == nil else { return -1 }
            return transfer_open_cached(descriptor, name)
        }
        return opened >= 0 ? opened : nil
    }

    /// As statfs(2) numbers them: ext4, XFS, Btrfs, F2FS, Bcachefs, ZFS and tmpfs.
    private static let diskFileSystems: Set<Int64> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1, 0x0102_1994,
    ]
}
