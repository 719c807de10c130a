import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferJobs

/// The kind of object that has the destination name of a download.
enum DestinationName: Sendable, Hashable {
    case free
    /// A regular file, or a symbolic link to one.
    case file(FileStamp)
    /// A symbolic link to nothing.
    case danglingLink
    case other(FileKind)

    /// Looks up a name without opening the object. Blocks.
    ///
    /// - Parameter folder: The pinned folder of the path, if there is one.
    /// - Throws: An error for a name that cannot be looked up.
    static func look(_ path: String, in folder: PinnedFolder? = nil) throws(TransferError) -> DestinationName {
        let place = folder.place(of: path)
        var status = stat()
        if stat(place, &status) == 0 {
            let kind = FileKind(status.st_mode)
            return kind == .regular ? .file(FileStamp(status)) : .other(kind)
        }
        let code = errno
        if code == ENOENT, lstat(place, &status) == 0 { return .danglingLink }
        if code == ENOENT || code == ENOTDIR { return .free }
        throw RefusedName.error(path, place: place, code) ?? .file("look at", path, code)
    }

    /// Returns the regular file to which a symbolic link of that name leads, and any other path as it is. Blocks.
    ///
    /// In a folder where everyone may make names (`/tmp`), a link of another user is not followed, as the kernel does by
    /// default (proc_sys_fs(5), `protected_symlinks`). That user could choose the file.
    static func behindLink(_ path: String) -> String {
        var (link, folder, file) = (stat(), stat(), stat())
        guard lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK, stat(path, &file) == 0,
            file.st_mode & S_IFMT == S_IFREG, stat(FolderMaker.parent(of: path), &folder) == 0,
            link.st_uid == geteuid() || link.st_uid == folder.st_uid || folder.st_mode & S_IWOTH == 0,
            let real = realpath(path, nil)
        else { return path }
        defer { Glibc.free(real) }
        return String(cString: real)
    }

    /// Returns a failure to write beside the file to which a link leads, with that link: the job names no other path.
    static func leading(_ error: TransferError, from link: String, to path: String) -> TransferError {
        guard link != path, let number = error.errno, [EACCES, EPERM, EROFS].contains(number) else { return error }
        var error = error
        error.message +=
            "; \(link) is a symbolic link to \(path), which is replaced there; remove the link, or name another destination"
        return error
    }

    /// Returns why a download can never replace this object, whatever `ifExists` says; `nil` if it may.
    func refusal(_ path: String) -> TransferError? {
        guard case .other(let kind) = self else { return nil }
        guard kind != .folder else {
            return TransferError(
                .fileExists, "\(path) is a folder; write \"to\": \"…/\" to put a file into a folder",
                cause: .os(errno: EISDIR))
        }
        return TransferError(
            .fileExists, "\(path) is \(kind.words), and is neither written to nor replaced; name another destination",
            cause: .os(errno: EEXIST))
    }

    /// Returns whether no object has the name, not even a dangling link.
    static func isFree(_ path: String, in folder: PinnedFolder? = nil) -> Bool {
        var status = stat()
        return lstat(folder.place(of: path), &status) != 0
    }

    /// Returns the first free name of `name.1.ext`, `name.2.ext`, ….
    ///
    /// - Parameter numbersLast: Whether the names are `name.ext.1`, `name.ext.2`, ….
    static func freeName(_ path: String, in folder: PinnedFolder? = nil, numbersLast: Bool = false) -> String {
        var number = 1
        while true {
            let name = numbersLast ? "\(path).\(number)" : NameLimit.numbered(path, number)
            if isFree(name, in: folder) { return name }
            number += 1
        }
    }
}

/// The file at the destination that a download may replace, as judged before the download began.
enum OverwriteRule: Sendable, Hashable {
    case nothing
    /// Any file, because the user allowed it.
    case anything
    /// Only this file, while it has this name and is unchanged.
    case only(path: String, FileStamp)

    /// Checks again, just before the new file gets the name. Blocks.
    func allows(_ path: String, in folder: PinnedFolder? = nil) throws(TransferError) -> Bool {
        // The renaming itself refuses to replace a file then.
        if self == .nothing { return false }
        let there = try DestinationName.look(path, in: folder)
        if let refusal = there.refusal(path) { throw refusal }
        return switch (self, there) {
        case (.anything, _): true
        case (.only(let judged, let stamp), .file(let found)): judged == path && found.isSameVersion(as: stamp)
        default: false
        }
    }
}
