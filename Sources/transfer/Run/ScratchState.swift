import FoundationEssentials
import Glibc
import TransferCore

/// The folder of a temporary queue below that for temporary files, which is removed after the run.
///
/// The next run removes the folders that killed runs have left.
final class ScratchState: Sendable {
    let path: String
    /// The lock, held until the process ends, which distinguishes the folder from an abandoned one.
    private let lock: Int32

    private static let prefix = "transfer-once-"
    private static let lockName = "/scratch.lock"

    /// Makes the folder.
    ///
    /// - Throws: `Failure` when the folder cannot be made.
    init(environment: [String: String] = Composition.environment) throws(Failure) {
        let named = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let folder = named.count > 1 && named.hasSuffix("/") ? String(named.dropLast()) : named
        Self.sweep(folder)
        var template = Array("\(folder)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("cannot make a folder in \(folder)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The lock file gets its name once it is locked, so that no process finds it unlocked.
        let new = path + Self.lockName + ".new"
        lock = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(new, path + Self.lockName) == 0 else {
            throw Self.failure("cannot write \(new)")
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes the folders that killed runs of this user have left.
    private static func sweep(_ folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
        for name in names where name.hasPrefix(prefix) {
            let path = folder + "/" + name
            var status = stat()
            // Other users may make folders with such names, where every user may write.
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
