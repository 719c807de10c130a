import CTransferLinux
import Glibc
import TransferCore

/// A folder on a local disk, of which a loop may open files that the kernel has in memory, without waiting.
///
/// Links are followed, unlike below a watched folder. The path of a source is what the job's author wrote, and it leads
/// where it would lead any other open call.
public final class CachedFolder: Sendable {
    /// The absolute path, with the slash at its end.
    let path: String
    let descriptor: Int32

    /// Opens the folder of a file. The call blocks: it is meant for workers.
    ///
    /// - Returns: `nil` for a file system that may have to ask another machine before it opens a file, and for a folder
    ///   that cannot be opened.
    public init?(of file: String) {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        // The name begins behind the slash byte, as a combining character may follow the slash.
        let path = String(file[..<file.utf8.index(after: slash)])
        let descriptor = transfer_open_folder(path)
        guard descriptor >= 0 else { return nil }
        guard Self.diskFileSystems.contains(transfer_file_system_of(descriptor) & 0xFFFF_FFFF) else {
            close(descriptor)
            return nil
        }
        // The properties are set last: a failed initializer would deinitialise a complete value, and close the
        // descriptor twice.
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a file of the folder.
    ///
    /// - Returns: An open descriptor, for the caller to close; `nil` for a file that is not in this folder, is missing,
    ///   or would have to be waited for.
    func open(_ file: String) -> Int32? {
        let length = path.utf8.count
        let opened = file.withCString { file -> Int32 in
            // Paths are compared by bytes.
            guard path.withCString({ strncmp(file, $0, length) }) == 0 else { return -1 }
            let name = file + length
            guard strchr(name, Int32(UInt8(ascii: "/"))) == nil else { return -1 }
            return transfer_open_cached(descriptor, name)
        }
        return opened >= 0 ? opened : nil
    }

    /// The numbers of statfs(2) for ext4, XFS, Btrfs, F2FS, Bcachefs, ZFS and tmpfs.
    private static let diskFileSystems: Set<Int64> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1, 0x0102_1994,
    ]
}
