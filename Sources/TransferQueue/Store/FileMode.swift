import Glibc
import TransferCore
import TransferEngine

enum FileMode {
    /// Makes the file where it's missing: read and write for the user alone.
    ///
    /// Before SQLite opens it, as what it puts beside a database gets the database's mode. Without a descriptor:
    /// closing one would give up the locks that another connection of this process has (fcntl(2)).
    static func makePrivate(_ path: String) throws(TransferError) {
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else { throw .file("make", path, errno) }
        guard chmod(path, 0o600) == 0 else { throw .file("protect", path, errno) }
    }
}
