import Glibc
import TransferCore

/// The names of partial files.
public enum PartName {
    /// Returns `NAME.part` beside the destination, or `NAME.1.part` and so on.
    ///
    /// The name is shortened where the folder does not accept that length. The same destination always has the same
    /// names, so that only its job finds a part again.
    public static func path(of destination: String, number: Int = 0) -> String {
        NameLimit.appended(destination, number == 0 ? ".part" : ".\(number).part")
    }

    /// Returns whether the path is one of a destination's partial files.
    ///
    /// - Parameter count: The number of names to compare.
    public static func isOne(_ path: String, of destination: String, count: Int) -> Bool {
        (0..<count).contains { Self.path(of: destination, number: $0) == path }
    }
}

/// The limit of the length of names in a folder.
public enum NameLimit {
    /// Returns the most bytes of a name in the folder of this path, which need not exist yet.
    ///
    /// The value is at most 255, which nearly all folders accept. Some file systems count characters and report more;
    /// an encrypted one reports 143.
    public static func inFolder(of path: String) -> Int {
        var folder = folder(of: path)
        while true {
            errno = 0
            let limit = pathconf(folder, Int32(_PC_NAME_MAX))
            if limit >= least { return min(limit, most) }
            guard limit < 0, errno == ENOENT || errno == ENOTDIR, folder != "/", folder != "." else { return most }
            folder = Self.folder(of: folder)
        }
    }

    /// Returns the path with a suffix; its last component is shortened where it would be too long.
    static func appended(_ path: String, _ suffix: String) -> String {
        let start = nameStart(path)
        let name = path[start...]
        // The name is short enough for any folder: no system call is needed.
        if name.utf8.count + suffix.utf8.count <= askedFrom { return path + suffix }
        return path[..<start] + FittedName.make(name, suffix, limit: inFolder(of: path))
    }

    /// Returns the path with a suffix to its name, which is shortened where it would be too long.
    public static func extended(_ path: String, _ suffix: String) -> String { appended(path, suffix) }

    /// Returns the path with a number, for a name that is taken.
    public static func numbered(_ path: String, _ number: Int) -> String {
        let start = nameStart(path)
        let name = path[start...]
        let limit = name.utf8.count <= askedFrom - 8 ? most : inFolder(of: path)
        return path[..<start] + FittedName.numbered(name, number, limit: limit)
    }

    /// Returns the path with a server's proposed name, shortened where it is too long for the folder.
    public static func fitted(_ path: String) -> String {
        let start = nameStart(path)
        let name = path[start...]
        if name.utf8.count <= askedFrom { return path }
        return path[..<start] + FittedName.shortened(name, limit: inFolder(of: path))
    }

    /// Returns whether some folders do not accept the name.
    public static func mayBeTooLong(_ path: String) -> Bool { path[nameStart(path)...].utf8.count > askedFrom }

    private static func nameStart(_ path: String) -> String.Index {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static let most = 255
    /// The least limit in bytes that is believed: no current file system has one near POSIX's `_POSIX_NAME_MAX`.
    private static let least = 64
    /// The length in bytes above which the folder is asked: names in an encrypted folder have at most 143 bytes.
    private static let askedFrom = 120
}
