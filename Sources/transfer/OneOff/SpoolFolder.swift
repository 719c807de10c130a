import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

/// The folder of all spools of a queue: `input-0123456789abcdef`, and files whose names begin so.
///
/// A spool belongs to the batch that its `.batch` file names.
struct SpoolFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Removes the spools that no run will use.
    ///
    /// Unused spools belong to batches that were forgotten, cancelled or done, or to commands that were killed before
    /// they had a batch. A spool that another process uses is left alone.
    static func sweep(_ remote: QueueRemote, state: String?) throws {
        let folder = SpoolFolder(try Composition.statePath(state) + "/streams")
        let spools = folder.spools()
        guard !spools.isEmpty else { return }
        let known = Set(try remote.batchNames())
        for spool in spools {
            if let batch = folder.batch(of: spool), known.contains(batch), try !remote.isOver(batch) { continue }
            folder.removeUnused(spool)
        }
    }

    /// Removes such spools when a queue begins to run.
    static func sweep(state: String?) {
        guard let path = try? Composition.statePath(state), !SpoolFolder(path + "/streams").spools().isEmpty,
            let remote = try? Composition.remote(existingState: state)
        else { return }
        // The next start finds a spool that was not removed.
        try? sweep(remote, state: state)
    }

    /// Returns the names of spools, without the suffixes of their files.
    private func spools() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return Set(names.compactMap(Self.spool(ofFile:)))
    }

    /// Returns the spool of a file: `input-` or `output-`, and 16 digits.
    private static func spool(ofFile name: String) -> String? {
        guard let direction = ["input-", "output-"].first(where: name.hasPrefix) else { return nil }
        let digits = name.dropFirst(direction.count).prefix(16)
        guard digits.count == 16, digits.allSatisfy(\.isHexDigit) else { return nil }
        return direction + digits
    }

    private func batch(of spool: String) -> String? {
        guard let bytes = try? MappedFile("\(path)/\(spool).batch").withBytes({ Array($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func removeUnused(_ spool: String) {
        let lock = open("\(path)/\(spool).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { return }
        defer { close(lock) }
        if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(spool) }
    }

    /// Removes all files of a spool, its partial files too; the lock file is the last.
    func remove(_ spool: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where Self.spool(ofFile: name) == spool && name != spool + ".lock" {
            unlink("\(path)/\(name)")
        }
        unlink("\(path)/\(spool).lock")
    }
}

extension QueueRemote {
    /// Returns whether all jobs of the batch were done or cancelled.
    func isOver(_ batch: String) throws -> Bool {
        try statuses(name: batch).allSatisfy { $0.total > 0 && $0.done + $0.cancelled == $0.total }
    }
}
