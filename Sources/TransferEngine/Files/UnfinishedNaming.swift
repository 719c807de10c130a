import CTransferLinux
import Glibc
import TransferCore

/// A naming that a process began and did not finish.
///
/// Some file systems lack the single call that gives a name and refuses an existing one (RENAME_NOREPLACE). Two calls
/// are needed there, and a crash may come between them (`transfer_rename_new_at`).
public enum UnfinishedNaming: Sendable, Hashable {
    /// The new name and the old one are two names of one file: link(2) was done, unlink(2) was not.
    case secondName
    /// The new name belongs to the empty file that reserves it; rename(2) was not done.
    case placeholder

    /// The facts about a regular file with one of the two names.
    struct Named: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64
        var links: UInt64
        var size: Int64
        /// The modification time in nanoseconds since 1970.
        var modified: Int64
        var owner: UInt32
    }

    /// Recognises an unfinished naming.
    ///
    /// - Parameters:
    ///   - new: The file that has the new name.
    ///   - old: The file that was to get it, which is known to be ours, and to be whole.
    ///   - hasLinks: Whether the file system has hard links; no placeholder is made there.
    ///   - isSame: A function that returns whether both names have the same bytes, on a file system that invents an
    ///     inode number for each name (sshfs). It returns `false` on all others.
    static func judge(
        new: Named, old: Named, hasLinks: () -> Bool, isSame: () -> Bool = { false }
    ) -> UnfinishedNaming? {
        if new.inode == old.inode, new.device == old.device { return new.links <= 2 ? .secondName : nil }
        if old.size > 0, new.device == old.device, new.size == old.size, new.modified == old.modified,
            new.owner == old.owner, new.links <= 2, isSame()
        {
            return .secondName
        }
        // The placeholder was made last. FAT keeps times to two seconds.
        guard old.size > 0, new.size == 0, new.links <= 1, new.owner == old.owner,
            new.modified >= old.modified - 2_000_000_000, !hasLinks()
        else { return nil }
        return .placeholder
    }

    /// Undoes an unfinished naming by removing the new name, if there is one. The call blocks: it is meant for workers.
    ///
    /// - Parameters:
    ///   - new: The path that the file was to get.
    ///   - old: The current path of the file, which a process was about to name when it died.
    ///   - areEqual: A closure that compares the bytes of two files.
    /// - Returns: The unfinished naming; `nil` where there was none.
    @discardableResult
    public static func undo(
        _ new: String, of old: String, areEqual: (String, String) -> Bool
    ) -> UnfinishedNaming? {
        guard let named = look(new), let begun = look(old) else { return nil }
        let naming = judge(
            new: named, old: begun, hasLinks: { transfer_has_links(old) == 1 },
            isSame: { isOfFUSE(new) && areEqual(new, old) })
        guard let naming else { return nil }
        unlink(new)
        // The number of the file's names is judged when it is opened.
        _ = look(old)
        return naming
    }

    private static func isOfFUSE(_ path: String) -> Bool {
        path.lastIndex(of: "/").map { transfer_is_fuse(String(path[...$0])) == 1 } ?? false
    }

    private static func look(_ path: String) -> Named? {
        transfer_refresh_status(path)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Named(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), links: UInt64(status.st_nlink),
            size: Int64(status.st_size), modified: FileStamp(status).modified, owner: status.st_uid)
    }
}
