import CTransferLinux
import Glibc
import TransferCore
import TransferEngine

/// The kind of thing that has the name that a download is to get.
enum DestinationName: Sendable, Hashable {
    case free
    /// A regular file, or a symbolic link to one.
    case file(FileStamp)
    /// A symbolic link to nothing.
    case danglingLink
    case other(FileKind)

    /// Never opens what is there. Blocks.
    ///
    /// - Parameter folder: Of the path, where it's pinned.
    /// - Throws: For a name that can't be looked at.
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

    /// Why nothing that has this name can give way to a download: no word of `ifExists` changes that.
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

    /// Whether nothing at all has the name: not a link to nothing either.
    static func isFree(_ path: String, in folder: PinnedFolder? = nil) -> Bool {
        var status = stat()
        return lstat(folder.place(of: path), &status) != 0
    }

    /// `name.1.ext`, `name.2.ext`, … : the first that is free.
    static func freeName(_ path: String, in folder: PinnedFolder? = nil) -> String {
        var number = 1
        while true {
            let name = NameLimit.numbered(path, number)
            if isFree(name, in: folder) { return name }
            number += 1
        }
    }
}

/// The file with the destination's name that a download may replace, as it was judged before the download began.
enum OverwriteRule: Sendable, Hashable {
    case nothing
    /// The user said so.
    case anything
    /// This file, as long as it has this name and is as it was.
    case only(path: String, FileStamp)

    /// Looks again, just before the new file gets the name. Blocks.
    func allows(_ path: String, in folder: PinnedFolder? = nil) throws(TransferError) -> Bool {
        // The renaming itself refuses then.
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
