import CTransferLinux
import Glibc
import TransferCore

/// The life of a file system: the time from one mounting of it to the next.
///
/// Bytes that were written and not synced exist as long as that life lasts, regardless of the processes. A reboot, a
/// removed disk and a file system that was shut down for its errors end it. A mount is not a life: each mount namespace
/// has its own for the same file system, and their numbers are used again.
enum MountInstance {
    /// Returns a name of this life that no other life has ever.
    ///
    /// - Returns: `nil` where lives cannot be distinguished: on network file systems, in FUSE, and without /sys. There
    ///   only synced bytes count.
    static func current(of descriptor: Int32) -> String? {
        var (status, system) = (stat(), statfs())
        guard fstat(descriptor, &status) == 0, fstatfs(descriptor, &system) == 0, BootID.current != BootID.unknown
        else {
            return nil
        }
        let kind = UInt32(truncatingIfNeeded: system.f_type)
        let pool = kind == Kind.btrfs ? btrfsPool(descriptor) : nil
        return name(device: UInt64(status.st_dev), kind: kind, pool: pool).map { "\(BootID.current) \($0)" }
    }

    /// Returns the name of this life of the file system in this boot.
    ///
    /// - Parameters:
    ///   - device: The field `st_dev`.
    ///   - kind: The field `f_type` of statfs(2).
    ///   - pool: The UUID of a Btrfs, whose subvolumes have device numbers that are reused.
    ///   - sys: The path of sysfs.
    static func name(device: UInt64, kind: UInt32, pool: String? = nil, sys: String = "/sys") -> String? {
        let number = "\(major(device)):\(minor(device))"
        // The files of a file system in memory end with its mount.
        if kind == Kind.tmpfs || kind == Kind.ramfs { return "\(number) memory" }
        if let pool { return folderNumber("btrfs/\(pool)", sys).map { "\(pool) btrfs \($0)" } }
        guard major(device) != 0 else { return nil }
        let token: String? =
            switch kind {
            case Kind.ext4: node("ext4", number, sys)
            case Kind.xfs: node("xfs", number, sys)
            case Kind.f2fs: node("f2fs", number, sys)
            case Kind.msdos, Kind.exfat: sequence(number, sys)
            default: nil
            }
        return token.map { "\(number) \($0)" }
    }

    /// Returns whether a file has the same number as long as it exists.
    ///
    /// Elsewhere it may get another one at each mount, and even when the kernel forgets it for a moment (vfat, exFAT,
    /// FUSE).
    static func keepsInodeNumbers(_ descriptor: Int32) -> Bool {
        var system = statfs()
        guard fstatfs(descriptor, &system) == 0 else { return false }
        return keepsInodeNumbers(kind: UInt32(truncatingIfNeeded: system.f_type))
    }

    static func keepsInodeNumbers(kind: UInt32) -> Bool {
        [Kind.tmpfs, Kind.ramfs, Kind.nfs, Kind.ext4, Kind.xfs, Kind.f2fs, Kind.btrfs].contains(kind)
    }

    /// Returns the inode number of the file system's folder in /sys.
    ///
    /// The folder is made at each mounting, and its number is never reused (kernfs counts up in 64 bits). Every
    /// namespace sees the same.
    private static func node(_ kind: String, _ number: String, _ sys: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("\(sys)/dev/block/\(number)", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let link = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let device = link.split(separator: "/").last else { return nil }
        return folderNumber("\(kind)/\(device)", sys).map { "\(kind) \($0)" }
    }

    private static func folderNumber(_ folder: String, _ sys: String) -> UInt64? {
        var status = stat()
        return stat("\(sys)/fs/\(folder)", &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Returns the UUID by BTRFS_IOC_FS_INFO, with the number of most architectures; the others refuse it.
    private static func btrfsPool(_ descriptor: Int32) -> String? {
        var answer = [UInt8](repeating: 0, count: 1024)
        guard ioctl(descriptor, 0x8400_941F, &answer) == 0 else { return nil }
        let digits = answer[16..<32].map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// Returns the sequence number of a disk, which grows when the disk is plugged in or its medium changes.
    ///
    /// File systems without a folder in /sys are those of sticks and cards. They lose no bytes when they are unmounted,
    /// and are not shut down for errors.
    private static func sequence(_ number: String, _ sys: String) -> String? {
        let folder = "\(sys)/dev/block/\(number)"
        // A partition has its disk's number.
        return (line(folder + "/diskseq") ?? line(folder + "/../diskseq")).map { "disk \($0)" }
    }

    private static func line(_ path: String) -> String? {
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// The magic numbers of statfs(2).
    enum Kind {
        static let tmpfs: UInt32 = 0x0102_1994
        static let ramfs: UInt32 = 0x8584_58F6
        static let nfs: UInt32 = 0x6969
        static let ext4: UInt32 = 0xEF53
        static let xfs: UInt32 = 0x5846_5342
        static let f2fs: UInt32 = 0xF2F5_2010
        static let btrfs: UInt32 = 0x9123_683E
        static let msdos: UInt32 = 0x4D44
        static let exfat: UInt32 = 0x2011_BAB0
    }

    /// Returns the major number of a device; the macro of makedev(3) is not available in Swift.
    private static func major(_ device: UInt64) -> UInt64 {
        (device & 0xFFFF_F000_0000_0000) >> 32 | (device & 0xF_FF00) >> 8
    }

    private static func minor(_ device: UInt64) -> UInt64 {
        (device & 0xFFF_FFF0_0000) >> 12 | device & 0xFF
    }
}
