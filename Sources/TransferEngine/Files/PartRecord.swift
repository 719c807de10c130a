import CTransferLinux
import FoundationEssentials
import Glibc
import TransferCore

/// The record of a partial file in an extended attribute of its own (xattr(7)).
///
/// The record moves with the bytes, so that a lost database loses no partial file.
enum PartRecord {
    private static let name = "user.transferkit.resume"

    static func read(_ descriptor: Int32) -> ResumeData? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fgetxattr(descriptor, name, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return try? JSONDecoder().decode(ResumeData.self, from: Data(buffer[..<count]))
    }

    private static let markName = "user.transferkit.part"

    /// Marks an empty file as ours, so that it is recognised after a kill before its first record.
    ///
    /// - Returns: Whether the file has the mark: its file system may not support attributes, or have no space for them.
    static func mark(_ descriptor: Int32) -> Bool { fsetxattr(descriptor, markName, "1", 1, 0) == 0 }

    static func whatItBears(_ descriptor: Int32) -> PartOwnership.Bears {
        if fgetxattr(descriptor, markName, nil, 0) >= 0 { return .mark }
        if errno == ENOTSUP { return MountInstance.keepsInodeNumbers(descriptor) ? .nothing : .unsupported }
        // The file is from a version that made no marks.
        return fgetxattr(descriptor, name, nil, 0) >= 0 ? .mark : .nothing
    }

    static func write(_ data: ResumeData, to descriptor: Int32) -> Bool {
        guard let json = try? JSONEncoder().encode(data) else { return false }
        return json.withUnsafeBytes { fsetxattr(descriptor, name, $0.baseAddress, $0.count, 0) == 0 }
    }

    private static let timeName = "user.transferkit.modified"

    /// Records the time of a complete file in it.
    static func writeTime(_ nanoseconds: Int64, to descriptor: Int32) {
        write(nanoseconds, as: timeName, to: descriptor)
    }

    static func readTime(_ descriptor: Int32) -> Int64? { readNumber(timeName, descriptor) }

    private static let namingName = "user.transferkit.named"

    /// Records in a finished file when it got its name.
    static func writeNaming(_ nanoseconds: Int64, to descriptor: Int32) {
        write(nanoseconds, as: namingName, to: descriptor)
    }

    static func readNaming(_ descriptor: Int32) -> Int64? { readNumber(namingName, descriptor) }

    private static func write(_ number: Int64, as name: String, to descriptor: Int32) {
        var text = "\(number)"
        text.withUTF8 { _ = fsetxattr(descriptor, name, $0.baseAddress, $0.count, 0) }
    }

    private static func readNumber(_ name: String, _ descriptor: Int32) -> Int64? {
        var buffer = [UInt8](repeating: 0, count: 24)
        let count = fgetxattr(descriptor, name, &buffer, buffer.count)
        return count > 0 ? Int64(String(decoding: buffer[..<count], as: UTF8.self)) : nil
    }

    static func remove(_ descriptor: Int32) { _ = fremovexattr(descriptor, name) }
}

/// The boot of the machine: bytes that were only in memory are lost in the next one.
public enum BootID {
    /// The value where the system does not report its boot, for lack of /proc: no two boots count as the same then.
    public static let unknown = "unknown"

    /// The ID of the current boot, or ``unknown``.
    public static let current: String = {
        let descriptor = transfer_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return unknown }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return unknown }
        return String(decoding: buffer[..<count].filter { $0 > 0x20 }, as: UTF8.self)
    }()
}
