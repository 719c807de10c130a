import CTransferLinux
import Glibc
public import TransferCore
import TransferEngine
import TransferJobs

/// The folder that holds a queue: made, private to its user, and on a file system that SQLite's WAL works on.
public struct StateFolder: Sendable, Hashable {
    /// The path of the folder, without a slash at its end.
    public let path: String

    /// Uses a folder, and makes it (mode 0700) and its parents where they are missing.
    ///
    /// - Throws: `TransferError` that names the fault of the folder and its remedy. A folder that exists already is no
    ///   error.
    public init(_ path: String) throws(TransferError) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        var made = ""
        var refused: TransferError?
        for component in self.path.split(separator: "/") {
            made += (made.isEmpty && !self.path.hasPrefix("/") ? "" : "/") + component
            if mkdir(made, made == self.path ? 0o700 : 0o755) == 0 {
                // A file in the folder is only as durable as the entry that names the folder.
                FolderMaker.sync(FolderMaker.parent(of: made))
            } else if errno != EEXIST, errno != EISDIR {
                let number = errno
                // A folder inside one that could not be made is missing for the same reason.
                if number == ENOENT, let refused { throw refused }
                let goal = made == self.path ? "" : "\(made) for "
                let error = unusable("cannot make \(goal)the state folder \(self.path)", number)
                // A parent that cannot be made may exist without being listed. access(2) below decides.
                guard [EROFS, EACCES, EPERM].contains(number) else { throw error }
                if refused == nil { refused = error }
            }
        }
        var status = stat()
        guard stat(self.path, &status) == 0 else {
            let error = unusable("cannot use the state folder \(self.path)", errno)
            throw error.errno == ENOENT ? refused ?? error : error
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw TransferError(
                .fileAccess,
                "the state folder \(self.path) is not a folder; name another\(CommandPhrases.only(" with --state"))")
        }
        if let owner = Self.stranger(status, self.path) {
            throw TransferError(
                .fileAccess,
                "the state folder \(self.path) belongs to \(owner): run \(CommandPhrases.choose("the command", "the program")) "
                    + "as that user\(CommandPhrases.only(Self.way(toBe: status.st_uid))), or name another folder"
                    + CommandPhrases.only(" with --state or TRANSFER_STATE"))
        }
        guard access(self.path, R_OK | W_OK | X_OK) == 0 else {
            throw unusable("cannot write to the state folder \(self.path)", errno)
        }
        try Self.close(self.path, status.st_mode)
        if let network = Self.networkFileSystem(self.path) {
            throw TransferError(
                .fileAccess,
                "the state folder \(self.path) is on \(network), where the queue's database is not safe; "
                    + "name a local folder\(CommandPhrases.only(" with --state"))")
        }
    }

    /// The path of the queue's database.
    public var database: String { path + "/queue.sqlite" }
    /// The lock file of processes that work on the queue (``LeaseLocks``).
    package var locks: String { path + "/queue.locks" }

    /// Returns the beginning of a command line that another user carries out.
    private static func way(toBe user: UInt32) -> String {
        " (sudo -u '\(UserEntry(user)?.name ?? "#\(user)")' transfer …)"
    }

    /// Returns the owner of the folder where that is another user, because a folder's owner controls the queue.
    private static func stranger(_ status: stat, _ path: String) -> String? {
        // Some file systems give all files one owner, regardless of the user that makes them.
        guard status.st_uid != geteuid(), status.st_uid != PartFile.ownerOfNewFiles(besides: path + "/queue.sqlite")
        else { return nil }
        return UserEntry.words(status.st_uid)
    }

    /// Takes the right to write there from other users, where the folder holds nothing but the queue.
    ///
    /// - Throws: `fileAccess` where any user may write to a folder that also holds other things, such as `/tmp`.
    private static func close(_ path: String, _ mode: mode_t) throws(TransferError) {
        guard mode & 0o022 != 0 else { return }
        if isQueuesAlone(path), chmod(path, mode & 0o7755) == 0 { return }
        guard mode & 0o002 != 0 else { return }
        throw TransferError(
            .fileAccess,
            "every user may write to the state folder \(path), which is not the queue's alone: name another folder"
                + "\(CommandPhrases.only(" with --state or TRANSFER_STATE")) (\(path)/transfer is made for you alone), or close it with chmod go-w"
        )
    }

    private static func isQueuesAlone(_ path: String) -> Bool {
        var status = stat()
        if lstat(path + "/queue.sqlite", &status) == 0 { return status.st_uid == geteuid() }
        guard let listing = opendir(path) else { return false }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = entry.pointee.d_name
            guard name.0 == 0x2E, name.1 == 0 || (name.1 == 0x2E && name.2 == 0) else { return false }
        }
        return true
    }

    /// Finds the folder by the rules of the command: `explicit`, then `TRANSFER_STATE`, `STATE_DIRECTORY` (systemd's),
    /// `XDG_STATE_HOME/transfer`, `HOME/.local/state/transfer`.
    ///
    /// - Throws: `TransferError` when none of these is set.
    public static func locate(explicit: String?, environment: [String: String]) throws(TransferError) -> String {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let path = explicit ?? value("TRANSFER_STATE") { return path }
        // systemd lists several folders separated by colons.
        if let folders = value("STATE_DIRECTORY"), let first = folders.split(separator: ":").first {
            return String(first)
        }
        if let base = value("XDG_STATE_HOME"), base.hasPrefix("/") { return base + "/transfer" }
        if let home = value("HOME") { return home + "/.local/state/transfer" }
        throw TransferError(
            .fileAccess,
            "no place for the queue's state: HOME is not set; name a folder\(CommandPhrases.only(" with --state or TRANSFER_STATE"))"
        )
    }

    private static func networkFileSystem(_ path: String) -> String? {
        switch transfer_file_system(path) {
        case 0x6969: "NFS"
        case 0xFF53_4D42, 0x517B, 0xFE53_4D42: "SMB"
        case 0x0102_1997: "9P"
        case 0x5346_414F: "AFS"
        case 0x0BD0_0BD0: "Lustre"
        case 0x00C3_6400: "Ceph"
        default: nil
        }
    }
}

private func unusable(_ what: String, _ number: Int32) -> TransferError {
    TransferError(
        .fileAccess,
        "\(what): \(String(cString: strerror(number)).lowercasedFirst); name another folder\(CommandPhrases.only(" with --state or TRANSFER_STATE"))",
        cause: .os(errno: number))
}
