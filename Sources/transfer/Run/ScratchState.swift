import FoundationEssentials
import Glibc
import TransferCore

/// The state of a queue that nobody has a use for afterwards: a folder of its own beneath that for temporary files, which
/// goes with the run. What a killed run has left, the next one removes.
final class ScratchState: Sendable {
    let path: String
    /// Locked until the process ends: by that it's told from one that was left.
    private let lock: Int32

    private static let prefix = "transfer-once-"
    private static let lockName = "/scratch.lock"

    /// - Throws: `Failure` when the folder can't be made.
    init(environment: [String: String] = Composition.environment) throws(Failure) {
        let named = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let folder = named.count > 1 && named.hasSuffix("/") ? String(named.dropLast()) : named
        Self.sweep(folder)
        var template = Array("\(folder)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("can't make a folder in \(folder)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // It gets its name once it's locked: nobody finds one that is free.
        let new = path + Self.lockName + ".new"
        lock = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(new, path + Self.lockName) == 0 else {
            throw Self.failure("can't write \(new)")
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes what killed runs of this user have left.
    private static func sweep(_ folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
        for name in names where name.hasPrefix(prefix) {
            let path = folder + "/" + name
            var status = stat()
            // Others may make folders of such names, where everybody may.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
                status.st_mode & 0o077 == 0
            else { continue }
            let lock = open(path + lockName, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard lock >= 0 else { continue }
            defer { close(lock) }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(
            .stateUnusable,
            "\(what): \(String(cString: strerror(errno)).lowercasedFirst); TMPDIR names another folder for temporary files"
        )
    }
}
