import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEngine

/// The destinations of a run in case-folding folders of FUSE. There the kernel has a separate inode and lock for each
/// spelling of a name, so two jobs would write to one partial file.
///
/// File systems of the kernel reveal by the inode number that two names are one file (`BroughtFiles`).
final class FoldedNames: Sendable {
    private struct Owner {
        let job: Int64
        let path: String
    }

    /// The folders that were probed.
    private let folders = Mutex<[String: Bool]>([:])
    /// The owners, by path in lower case.
    private let owners = Mutex<[String: Owner]>([:])

    private static let mostFolders = 10_000

    /// Claims a file that a job is about to write. Blocks at the first call for a folder, so it belongs on a worker
    /// thread.
    ///
    /// - Throws: `fileExists` if another job of this run has the file under another spelling.
    func claim(_ path: String, job: Int64) throws(TransferError) {
        guard folds(FolderMaker.parent(of: path)) else { return }
        let other = owners.withLock { owners -> String? in
            let key = path.lowercased()
            guard let owner = owners[key] else {
                owners[key] = Owner(job: job, path: path)
                return nil
            }
            return owner.job == job || owner.path == path ? nil : owner.path
        }
        guard let other else { return }
        throw TransferError(
            .fileExists,
            "\(path) and \(other) are one file here, as the file system folds case, and another job has that one; give this "
                + "job another \"to\"")
    }

    private func folds(_ folder: String) -> Bool {
        if let known = folders.withLock({ $0[folder] }) { return known }
        // A folder that does not exist yet will be on its parent's file system.
        var there = folder
        while access(there, F_OK) != 0, there != "/", there != "." { there = FolderMaker.parent(of: there) }
        let answer = transfer_is_fuse(there) == 1 && Self.probe(there)
        folders.withLock { if $0.count < Self.mostFolders { $0[folder] = answer } }
        return answer
    }

    /// Makes a file and searches for it under another spelling.
    private static func probe(_ folder: String) -> Bool {
        let number = UInt64.random(in: .min ... .max)
        let (name, other) = ("\(folder)/.transfer-\(number).part", "\(folder)/.TRANSFER-\(number).PART")
        let descriptor = transfer_open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        defer { unlink(name) }
        var status = stat()
        return lstat(other, &status) == 0
    }
}
