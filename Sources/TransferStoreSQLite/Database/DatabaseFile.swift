import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine
import TransferStore

/// The file of a queue's database, before SQLite opens it.
package enum DatabaseFile {
    package static let pageSize = 8192

    /// Makes the file where it is missing, and lets only its user read and write it. SQLite gives the files beside a
    /// database the mode of the database.
    ///
    /// The new database has WAL mode and is synced before it gets its name, if the file system can make a file without
    /// a name. SQLite itself would write a journal for that, and wait for the disk four times instead of once.
    ///
    /// - Throws: `TransferError` when the file cannot be made or protected.
    package static func prepare(_ path: String, in folder: String) throws(TransferError) {
        for suffix in [""] + companions { try requireOwn(path + suffix) }
        if access(path, F_OK) != 0 {
            let failure = emptyDatabase.withUnsafeBytes {
                transfer_make_whole_file(folder, path, 0o600, $0.baseAddress, $0.count)
            }
            // The file was made by another process, or the file system cannot make one without a name. SQLite accepts
            // an empty file, too.
            if failure == 0 { return }
        }
        // No descriptor is used, because closing one would give up the locks that another connection of this process
        // has (fcntl(2)).
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else { throw .file("make", path, errno) }
        guard chmod(path, 0o600) == 0 else { throw .file("protect", path, errno) }
    }

    /// The suffixes of files that SQLite puts beside a database (sqlite.org/tempfiles.html).
    package static let companions = ["-wal", "-shm", "-journal"]

    /// Refuses a file of another user, and one with a second name, because it would be read and written as the queue's.
    private static func requireOwn(_ path: String) throws(TransferError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let fault: String? =
            if status.st_mode & S_IFMT != S_IFREG {
                "is no plain file"
            } else if status.st_uid != geteuid(), status.st_uid != PartFile.ownerOfNewFiles(besides: path) {
                "belongs to \(UserEntry.words(status.st_uid))"
            } else if status.st_nlink > 1 {
                "has a second name"
            } else {
                nil
            }
        guard let fault else { return }
        throw TransferError(
            .fileAccess,
            "\(path) \(fault), and is not used: move it away, or name another folder\(CommandPhrases.only(" with --state"))"
        )
    }

    /// One page: the header of a database in WAL mode, and the root of an empty schema table
    /// (sqlite.org/fileformat2.html, 1.3 and 1.6). Numbers are big-endian.
    private static let emptyDatabase: [UInt8] = {
        var page = [UInt8](repeating: 0, count: pageSize)
        func put(_ value: [UInt8], at offset: Int) { page.replaceSubrange(offset..<offset + value.count, with: value) }
        let size = [UInt8(pageSize >> 8), UInt8(pageSize & 0xFF)]
        put(Array("SQLite format 3\0".utf8), at: 0)
        put(size, at: 16)
        // The read and write version 2 means WAL; the payload fractions have their fixed values.
        put([2, 2, 0, 64, 32, 32], at: 18)
        // The change counter and the number of pages are 1.
        put([0, 0, 0, 1, 0, 0, 0, 1], at: 24)
        put([0, 0, 0, 1], at: 92)
        // A leaf without cells, whose content begins at the end of the page.
        put([0x0D, 0, 0, 0, 0] + size + [0], at: 100)
        return page
    }()
}
