import CTransferLinux
import Glibc
public import TransferCore

/// Names that a file system does not accept.
///
/// FAT, exFAT and NTFS forbid some characters in names. FUSE and the kernel report such a name by many errors, "no such
/// file" among them.
public enum RefusedName {
    /// Returns the error of a refused name.
    ///
    /// - Parameters:
    ///   - path: The path for messages.
    ///   - place: The path by which system calls reach the name; its folder exists.
    ///   - number: The `errno` of the call that was to make the file.
    /// - Returns: The error; `nil` where the name is not the reason.
    public static func error(_ path: String, place: String, _ number: Int32) -> TransferError? {
        guard [EINVAL, ENOENT, EILSEQ, EPERM, EIO, ENAMETOOLONG, EOPNOTSUPP].contains(number) else { return nil }
        let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        guard let doubtful = doubtful(name), takesOthers(place) else { return nil }
        return TransferError(
            .fileAccess,
            "cannot make \(path): its file system takes no name \(doubtful); write another name in \"to\""
                + CommandPhrases.also("--output"), cause: .os(errno: number))
    }

    /// Returns a description of the part of a name that some file systems refuse.
    static func doubtful(_ name: Substring) -> String? {
        if let character = name.first(where: { "\"*:<>?\\|".contains($0) }) { return "with \"\(character)\"" }
        if name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            return "with a control character"
        }
        if let last = name.last, last == "." || last == " " {
            return "that ends with a \(last == "." ? "period" : "space")"
        }
        if name.unicodeScalars.contains("\u{FFFD}") { return "that is no valid text" }
        return nil
    }

    /// Returns whether the folder accepts a name that all file systems accept.
    private static func takesOthers(_ place: String) -> Bool {
        guard let slash = place.lastIndex(of: "/") else { return false }
        let name = "\(place[..<slash])/.transfer-\(UInt64.random(in: .min ... .max)).part"
        let descriptor = transfer_open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        unlink(name)
        return true
    }
}
