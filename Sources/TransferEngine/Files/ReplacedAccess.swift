import CTransferLinux
import Glibc

/// The access to a regular file that another file replaces: its owner, its group and its mode.
///
/// A private file stays private, also while its successor is written. Bits that make a program run as another user are
/// not taken over, as the kernel removes them on each write, too.
struct ReplacedAccess {
    private let old: stat
    /// Whether the successor may get the owner. In a folder where everyone may make files, anyone may have made this one,
    /// and would own what replaces it.
    private let givesOwner: Bool

    /// Reads the access.
    ///
    /// - Returns: `nil` where there is no such file, and for a link, whose target stays.
    init?(of place: String) {
        var status = stat()
        guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        old = status
        var folder = stat()
        let parent = place.lastIndex(of: "/").map { String(place[...$0]) } ?? "."
        givesOwner = stat(parent, &folder) == 0 && (folder.st_mode & S_IWOTH == 0 || old.st_uid == folder.st_uid)
    }

    /// Takes from the successor the rights that the file does not give. The owner keeps the right to continue it.
    func restrict(_ descriptor: Int32) {
        guard let own = Self.status(descriptor) else { return }
        let mode = Self.rights(own) & (rights(inGroup: own.st_gid) | 0o600)
        if mode != Self.rights(own) { fchmod(descriptor, mode) }
    }

    /// Gives the complete successor the mode, and the owner and the group where that is allowed.
    ///
    /// A file system without owners or modes does not fail the download.
    func give(to descriptor: Int32) {
        guard var own = Self.status(descriptor) else { return }
        if givesOwner, old.st_uid != own.st_uid || old.st_gid != own.st_gid {
            // Only root gives files away; an owner may still name one of its own groups.
            if fchown(descriptor, old.st_uid, old.st_gid) != 0 { _ = fchown(descriptor, .max, old.st_gid) }
            own = Self.status(descriptor) ?? own
        }
        let mode = rights(inGroup: own.st_gid)
        if mode != Self.rights(own) { fchmod(descriptor, mode) }
    }

    /// Returns the mode for a file of that group: another group gets what all others get.
    private func rights(inGroup group: gid_t) -> mode_t {
        let mode = Self.rights(old)
        return old.st_gid == group ? mode : mode & ~0o070 | (mode & 0o007) << 3
    }

    private static func rights(_ status: stat) -> mode_t { status.st_mode & 0o777 }

    private static func status(_ descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }
}
