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
    /// The value of a setting of sysctl(8).
    var limit: @Sendable (_ name: String) -> Int?
    /// The kind of file system that an open folder is on, as statfs(2) numbers them.
    var fileSystem: @Sendable (_ descriptor: Int32) -> Int64

    static let linux = WatchKernel(
        create: { transfer_inotify_create() }, add: { transfer_inotify_add($0, $1, $2) },
        remove: { transfer_inotify_remove($0, $1) },
        limit: { name in
            let path = String(name.map { $0 == "." ? "/" : $0 })
            guard let text = TextFile.read("/proc/sys/" + path) else { return nil }
            return Int(text.prefix { $0.isNumber })
        },
        fileSystem: { transfer_file_system_of($0) })

    func refusal(_ number: Int32) -> WatchRefusal {
        switch number {
        case ENOSPC: WatchRefusal(number: number, lowest(WatchRefusal.watches))
        case EMFILE: WatchRefusal(number: number, lowest(WatchRefusal.instances))
        default: WatchRefusal(number: number)
        }
    }

    /// In a namespace of its own (user_namespaces(7)) a user has the lower of two limits.
    private func lowest(_ settings: [String]) -> WatchRefusal.Limit? {
        settings.compactMap { name in limit(name).map { WatchRefusal.Limit(setting: name, value: $0) } }
            .min { $0.value < $1.value }
    }
}

/// Why the kernel gave no watch, or no queue for events.
struct WatchRefusal: Sendable, Hashable {
    struct Limit: Sendable, Hashable {
        var setting: String
        var value: Int
    }

    static let watches = ["fs.inotify.max_user_watches", "user.max_inotify_watches"]
    static let instances = ["fs.inotify.max_user_instances", "user.max_inotify_instances"]

    var number: Int32
    /// The setting that is too low, where it can be read.
    var limit: Limit?

    init(number: Int32, _ limit: Limit? = nil) {
        self.number = number
        self.limit = limit
    }

    var error: TransferError {
        switch number {
        case ENOSPC: error("watches", Self.watches[0], enough: 524_288)
        case EMFILE: error("instances", Self.instances[0], enough: 1024)
        default:
            TransferError(
                .watchLimit, "inotify can't be used here: \(SystemText.of(number)); folders are polled instead",
                cause: .os(errno: number))
        }
    }

    private func error(_ what: String, _ usual: String, enough: Int) -> TransferError {
        let setting = limit?.setting ?? usual
        let present = limit.map { "is \($0.value)" } ?? "is too low"
        let proposed = max(enough, (limit?.value ?? 0) * 2)
        return TransferError(
            .watchLimit,
            "no inotify \(what) left for this user: \(setting) \(present); raise it with "
                + "`sysctl -w \(setting)=\(proposed)` (in /etc/sysctl.d/ to keep it); "
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
    static func of(_ number: Int32) -> String { String(cString: strerror(number)).lowercasedFirst }

    /// The fault that keeps a file or folder from being read; `fileMissing` where it isn't there (any more).
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
