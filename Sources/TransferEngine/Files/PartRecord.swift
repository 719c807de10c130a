import CTransferLinux
import FoundationEssentials
import Glibc
import TransferCore

/// The record of a partial file in an extended attribute of its own (xattr(7)), so that it goes where the bytes go and
/// a lost database loses none of them.
enum PartRecord {
    private static let name = "user.transferkit.resume"

    static func read(_ descriptor: Int32) -> ResumeData? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fgetxattr(descriptor, name, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return try? JSONDecoder().decode(ResumeData.self, from: Data(buffer[..<count]))
    }

    private static let markName = "user.transferkit.part"

    /// Notes that we made the file, before it has a byte: what is killed before its first record is known by it.
    ///
    /// - Returns: Whether the file bears it: its file system may hold no such things, or have no space for them.
    static func mark(_ descriptor: Int32) -> Bool { fsetxattr(descriptor, markName, "1", 1, 0) == 0 }

    static func whatItBears(_ descriptor: Int32) -> PartOwnership.Bears {
        if fgetxattr(descriptor, markName, nil, 0) >= 0 { return .mark }
        if errno == ENOTSUP { return MountInstance.keepsInodeNumbers(descriptor) ? .nothing : .unsupported }
        // Before there were marks.
        return fgetxattr(descriptor, name, nil, 0) >= 0 ? .mark : .nothing
    }

    static func write(_ data: ResumeData, to descriptor: Int32) -> Bool {
        guard let json = try? JSONEncoder().encode(data) else { return false }
        return json.withUnsafeBytes { fsetxattr(descriptor, name, $0.baseAddress, $0.count, 0) == 0 }
    }

    private static let timeName = "user.transferkit.modified"

    /// Notes, in a file that is whole, what its time is.
    static func writeTime(_ nanoseconds: Int64, to descriptor: Int32) {
        write(nanoseconds, as: timeName, to: descriptor)
    }

    static func readTime(_ descriptor: Int32) -> Int64? { readNumber(timeName, descriptor) }

    private static let namingName = "user.transferkit.named"

    /// Notes, in a file that has its own name, when it got it.
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

/// The boot of the machine: what was only in memory then is gone in another one.
public enum BootID {
    /// Where the system doesn't tell it, as it has no /proc: no two are known to be the same then.
    public static let unknown = "unknown"

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
