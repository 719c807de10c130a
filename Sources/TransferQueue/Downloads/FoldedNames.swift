import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEngine

/// The destinations of a run in folders of FUSE that fold case. There the kernel has a file of its own for each spelling of a
/// name, with its own number and its own locks: two jobs would write to one partial file.
///
/// File systems of the kernel show by the number of the inode that two names are one (`BroughtFiles`).
final class FoldedNames: Sendable {
    private struct Owner {
        let job: Int64
        let path: String
    }

    /// Folders that were asked about.
    private let folders = Mutex<[String: Bool]>([:])
    /// By the path in lower case.
    private let owners = Mutex<[String: Owner]>([:])

    private static let mostFolders = 10_000

    /// Notes that a job is about to write a file. Blocks at the first question for a folder: for workers.
    ///
    /// - Throws: `fileExists` where another job of this run has the file under another spelling.
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
        // A folder that is still to be made is of the file system that its parent is of.
        var there = folder
        while access(there, F_OK) != 0, there != "/", there != "." { there = FolderMaker.parent(of: there) }
        let answer = transfer_is_fuse(there) == 1 && Self.probe(there)
        folders.withLock { if $0.count < Self.mostFolders { $0[folder] = answer } }
        return answer
    }

    /// Makes a file and looks for it under another spelling.
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
