import CTransferLinux
package import GRDB
import Glibc
package import TransferCore
import TransferEngine
import TransferStore

/// A database that SQLite can no longer read, because a disk lost or changed its bytes, or because it is another kind
/// of file.
///
/// A damaged database is moved aside and never deleted, and a new one is begun. Partial and finished files have their
/// own records, so that no file is lost with it.
package enum DamagedDatabase {
    /// The size in bytes above which a database is not read through at each start. Damage in a larger one shows when
    /// the page is needed.
    package static let largestRead = 8 << 20

    /// Returns whether SQLite's error means a damaged database.
    package static func isReportedBy(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    /// Reads the whole database where it is small, or where damage was met before.
    ///
    /// - Throws: `DatabaseError` with `SQLITE_CORRUPT`.
    package static func look(_ database: DatabaseQueue, _ path: String) throws {
        var status = stat()
        let wasMet = access(mark(path), F_OK) == 0
        guard wasMet || stat(path, &status) == 0 && status.st_size <= largestRead else { return }
        let word = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        if let fault = word.flatMap({ fault(in: $0) }) {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault)
        }
        if wasMet { unlink(mark(path)) }
    }

    /// Returns the fault of the database's pages; `nil` where they are valid trees.
    ///
    /// Only messages about pages and indexes count, and they come first. SQLite 3.40 reports "NULL value in need.job"
    /// for an intact table without row numbers, although its integrity_check confirms the table.
    ///
    /// - Parameter word: The first message of `quick_check`.
    package static func fault(in word: String) -> String? {
        guard word.hasPrefix("*** in database") else { return nil }
        return word.split(separator: "\n").dropFirst().first.map { String($0) } ?? word
    }

    /// Notes that damage was met, so that the next start reads the whole database.
    package static func note(_ path: String) {
        let descriptor = transfer_open(mark(path), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Renames the database and its companion files.
    ///
    /// - Returns: A notice for people.
    /// - Throws: `TransferError` when another process has the database open, or when the system refuses.
    package static func moveAside(_ path: String, because reason: String) throws(TransferError) -> String {
        if let pid = user(of: path) {
            throw TransferError(
                .fileAccess,
                "the queue's database \(path) is damaged (\(reason)), and the process \(pid) has it open: stop that, and "
                    + "start this again")
        }
        let aside = try freeName(path)
        // The log is moved first, because a new database would take a log beside it for its own. A log that was moved
        // alone is no loss, as its database is checked again then.
        for suffix in DatabaseFile.companions + [""] {
            let code = transfer_rename_new(path + suffix, aside + suffix)
            guard code == 0 || code == ENOENT else { throw .file("move to \(aside)", path + suffix, code) }
        }
        unlink(mark(path))
        return
            "the queue's database \(path) was damaged (\(reason)): it is \(aside) now, and a new one was begun; what "
            + "batches had done is forgotten, so that files that exist are continued, confirmed or compared with "
            + "what their servers have, and so is what was uploaded from watched folders, which is uploaded again"
    }

    private static func mark(_ path: String) -> String { path + ".doubtful" }

    private static func freeName(_ path: String) throws(TransferError) -> String {
        for number in 1..<10_000 {
            let name = "\(path).damaged-\(number)"
            if access(name, F_OK) != 0, access(name + "-wal", F_OK) != 0 { return name }
        }
        throw .file("move aside", path, EEXIST)
    }

    /// Returns another process that has the database open. Such a process holds a lock on one of the bytes that SQLite
    /// locks (sqlite.org/fileformat2.html, the lock-byte page).
    private static func user(of path: String) -> Int32? {
        let descriptor = transfer_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (0x4000_0000, 512)
        guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }
}
