import CTransferLinux
import Glibc
public import TransferCore

/// The calls of inotify(7), which tests can replace by a kernel that refuses.
struct WatchKernel: Sendable {
    /// The function that returns a descriptor, or the negative error number.
    var create: @Sendable () -> Int32
    /// The function that returns a watch, or the negative error number.
    var add: @Sendable (_ descriptor: Int32, _ path: String, _ mask: UInt32) -> Int32
    var remove: @Sendable (_ descriptor: Int32, _ watch: Int32) -> Void
    /// The function that returns the value of a setting of sysctl(8).
    var limit: @Sendable (_ name: String) -> Int?
    /// The function that returns the kind of an open folder's file system, numbered as in statfs(2).
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

    /// Returns the lower of two limits, which applies to a user in a separate namespace (user_namespaces(7)).
    private func lowest(_ settings: [String]) -> WatchRefusal.Limit? {
        settings.compactMap { name in limit(name).map { WatchRefusal.Limit(setting: name, value: $0) } }
            .min { $0.value < $1.value }
    }
}

/// The reason why the kernel gave no watch or no event queue.
struct WatchRefusal: Sendable, Hashable {
    struct Limit: Sendable, Hashable {
        var setting: String
        var value: Int
    }

    static let watches = ["fs.inotify.max_user_watches", "user.max_inotify_watches"]
    static let instances = ["fs.inotify.max_user_instances", "user.max_inotify_instances"]

    var number: Int32
    /// The setting that is too low, if it can be read.
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
                .watchLimit, "inotify cannot be used here: \(SystemText.of(number)); folders are polled instead",
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

/// The texts of errors.
enum SystemText {
    static func of(_ number: Int32) -> String { String(cString: strerror(number)).lowercasedFirst }

    /// Returns the error for a file or folder that cannot be read; `fileMissing` if it does not exist.
    static func fault(_ path: String, _ number: Int32) -> TransferError {
        let isMissing = [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(number)
        return TransferError(
            isMissing ? .fileMissing : .fileAccess, "\(path): \(of(number))", cause: .os(errno: number),
            isTransient: true)
    }
}

/// The access to small files of `/proc`.
enum TextFile {
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Returns the target of a link. A link in `/proc/self/fd` shows the path of an open descriptor.
    static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
