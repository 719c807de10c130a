import CTransferLinux
import Glibc
public import TransferCore

/// The calls of inotify(7), so that tests can have a kernel that refuses.
struct WatchKernel: Sendable {
    /// A descriptor, or the error's number below zero.
    var create: @Sendable () -> Int32
    /// A watch, or the error's number below zero.
    var add: @Sendable (_ descriptor: Int32, _ path: String, _ mask: UInt32) -> Int32
    var remove: @Sendable (_ descriptor: Int32, _ watch: Int32) -> Void
    /// What a file below `/proc/sys/fs/inotify` says.
    var limit: @Sendable (_ name: String) -> Int?
    /// The kind of file system that an open folder is on, as statfs(2) numbers them.
    var fileSystem: @Sendable (_ descriptor: Int32) -> Int64

    static let linux = WatchKernel(
        create: { transfer_inotify_create() }, add: { transfer_inotify_add($0, $1, $2) },
        remove: { transfer_inotify_remove($0, $1) },
        limit: { name in
            guard let text = TextFile.read("/proc/sys/fs/inotify/" + name) else { return nil }
            return Int(text.prefix { $0.isNumber })
        },
        fileSystem: { transfer_file_system_of($0) })

    func refusal(_ number: Int32) -> WatchRefusal {
        switch number {
        case ENOSPC: WatchRefusal(number: number, limit: limit(WatchRefusal.watches))
        case EMFILE: WatchRefusal(number: number, limit: limit(WatchRefusal.instances))
        default: WatchRefusal(number: number)
        }
    }
}

/// Why the kernel gave no watch, or no queue for events.
struct WatchRefusal: Sendable, Hashable {
    static let watches = "max_user_watches"
    static let instances = "max_user_instances"

    var number: Int32
    /// The present value of the setting, where it can be read.
    var limit: Int?

    var error: TransferError {
        switch number {
        case ENOSPC: error("watches", Self.watches, enough: 524_288)
        case EMFILE: error("instances", Self.instances, enough: 1024)
        default:
            TransferError(
                .watchLimit, "inotify can't be used here: \(SystemText.of(number)); folders are polled instead",
                cause: .os(errno: number))
        }
    }

    private func error(_ what: String, _ setting: String, enough: Int) -> TransferError {
        let present = limit.map { "is \($0)" } ?? "is too low"
        let proposed = max(enough, (limit ?? 0) * 2)
        return TransferError(
            .watchLimit,
            "no inotify \(what) left for this user: fs.inotify.\(setting) \(present); raise it with "
                + "`sysctl -w fs.inotify.\(setting)=\(proposed)` (in /etc/sysctl.d/ to keep it); "
                + "until then folders without one are polled",
            cause: .os(errno: number))
    }
}

extension TransferError.Code {
    /// The kernel has no inotify watches or instances left for this user.
    public static let watchLimit = Self(rawValue: "watchLimit")
}

/// Words for errors.
enum SystemText {
    static func of(_ number: Int32) -> String { String(cString: strerror(number)).lowercased() }

    /// What keeps a file or folder from being read. What isn't there (any more) is `fileMissing`.
    static func fault(_ path: String, _ number: Int32) -> TransferError {
        let isMissing = [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(number)
        return TransferError(
            isMissing ? .fileMissing : .fileAccess, "\(path): \(of(number))", cause: .os(errno: number),
            isTransient: true)
    }
}

/// Small files of `/proc`.
enum TextFile {
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Where a link leads; also of those in `/proc/self/fd`, which show what a descriptor is open on.
    static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
