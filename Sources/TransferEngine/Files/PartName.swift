import Glibc
import TransferCore

/// The names of partial files.
public enum PartName {
    /// `NAME.part` beside the destination, or `NAME.1.part` and so on; shortened where the folder takes no name of that
    /// length. The same destination always has the same ones, so that a part is found again by nothing but its job.
    public static func path(of destination: String, number: Int = 0) -> String {
        NameLimit.appended(destination, number == 0 ? ".part" : ".\(number).part")
    }

    /// Whether the path is one of a destination's.
    ///
    /// - Parameter count: How many names there are.
    public static func isOne(_ path: String, of destination: String, count: Int) -> Bool {
        (0..<count).contains { Self.path(of: destination, number: $0) == path }
    }
}

/// How long the names in a folder may be.
public enum NameLimit {
    /// Bytes of a name in the folder of this path, which needn't be there yet; at most 255, which all but a few take (some
    /// file systems count characters and say more, an encrypted one says 143).
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

    /// The path with something behind it; its last component is shortened where it would be too long.
    static func appended(_ path: String, _ suffix: String) -> String {
        let start = nameStart(path)
        let name = path[start...]
        // Short for each of them: nothing has to be asked.
        if name.utf8.count + suffix.utf8.count <= askedFrom { return path + suffix }
        return path[..<start] + FittedName.make(name, suffix, limit: inFolder(of: path))
    }

    /// The path with something behind its name, which is shortened where it would be too long.
    public static func extended(_ path: String, _ suffix: String) -> String { appended(path, suffix) }

    /// The path as it is numbered where its name is taken.
    public static func numbered(_ path: String, _ number: Int) -> String {
        let start = nameStart(path)
        let name = path[start...]
        let limit = name.utf8.count <= askedFrom - 8 ? most : inFolder(of: path)
        return path[..<start] + FittedName.numbered(name, number, limit: limit)
    }

    /// The path with a name that a server has proposed, shortened where it's too long for the folder.
    public static func fitted(_ path: String) -> String {
        let start = nameStart(path)
        let name = path[start...]
        if name.utf8.count <= askedFrom { return path }
        return path[..<start] + FittedName.shortened(name, limit: inFolder(of: path))
    }

    /// Whether there are folders that don't take the name.
    public static func mayBeTooLong(_ path: String) -> Bool { path[nameStart(path)...].utf8.count > askedFrom }

    private static func nameStart(_ path: String) -> String.Index {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static let most = 255
    /// POSIX's own, `_POSIX_NAME_MAX` with room for what is put around a name, is no limit that anything has today.
    private static let least = 64
    /// An encrypted folder's names have 143 bytes.
    private static let askedFrom = 120
}
