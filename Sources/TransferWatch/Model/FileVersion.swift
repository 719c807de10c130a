public import TransferCore

/// A version of a file after it was quiet for the settle time, to be uploaded once.
///
/// Two names of one file (hard links, or a symbolic link inside the folder and its target) are separate versions with
/// the same ``identity-swift.property``.
public struct FileVersion: Sendable, Hashable {
    /// The size, times and numbers of the file. Versions that differ only in `FileStamp.changed` are equal.
    public var stamp: FileStamp
    /// The path beneath the watched folder, with `/` between folders.
    public var path: String

    /// Creates a version from a file's stamp and its path beneath the watched folder.
    public init(_ stamp: FileStamp, path: String) {
        self.stamp = stamp
        self.path = path
    }

    /// Creates a version from single values.
    ///
    /// - Parameters:
    ///   - device: The number of the file system's device.
    ///   - inode: The number of the file in its file system.
    ///   - size: The size in bytes.
    ///   - modified: The time of the last change of its content, in nanoseconds since 1970.
    ///   - path: The path beneath the watched folder.
    ///   - changed: The time of the last change of its inode, in nanoseconds since 1970.
    public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, path: String, changed: Int64? = nil) {
        let stamp = FileStamp(device: device, inode: inode, size: size, modified: modified, changed: changed)
        self.init(stamp, path: path)
    }

    /// The size in bytes.
    public var size: Int64 { stamp.size }
    /// The time of the last change of its content, in nanoseconds since 1970.
    public var modified: Int64 { stamp.modified }

    /// The numbers that identify this version, whatever its name is.
    public var identity: FileStamp { stamp.version }

    /// The last component of the path.
    public var name: Substring { PathText.name(path) }

    /// The key of the path in collections.
    var key: PathKey { PathKey(path) }

    // The operator is not synthesized: hard links with canonically equivalent names would be one version.
    public static func == (one: FileVersion, other: FileVersion) -> Bool {
        one.identity == other.identity && one.key == other.key
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(key)
    }
}

/// A regular file as the kernel describes it.
struct FileLook: Sendable, Hashable {
    var stamp: FileStamp
    /// The time since the last change, to the extent that the clocks can be trusted.
    var quietFor: Duration
    /// Whether the file has other names, or this is a symbolic link. Writes through another name cause no event here.
    var hasOtherNames = false
    /// Whether a process has the file open for writing; `nil` if that was not asked, or the kernel does not report it.
    var isWritten: Bool?

    func version(_ path: String) -> FileVersion { FileVersion(stamp, path: path) }
}

/// The result of inspecting a name.
enum FileSnapshot: Sendable, Hashable {
    case file(FileLook)
    /// The name is a symbolic link that leads out of the watched folder, or to no file.
    case linkLeadsOutside
    /// There is no regular file with this name.
    case nothing

    var look: FileLook? {
        guard case .file(let look) = self else { return nil }
        return look
    }
}

/// Functions on paths beneath the watched folder. Paths are split at the byte `/`, because a slash with a combining
/// mark is another `Character` and still a slash to the kernel.
enum PathText {
    static func name(_ path: String) -> Substring {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return Substring(path) }
        return path[path.utf8.index(after: slash)...]
    }

    /// Returns the folder that contains the path; empty for the watched folder itself.
    static func folder(_ path: String) -> Substring {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return path[..<slash]
    }

    static func join(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder + "/" + name }

    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    static func isInside(_ path: String, _ folder: String) -> Bool {
        folder.isEmpty
            || path.utf8.count > folder.utf8.count && path.utf8.starts(with: folder.utf8)
                && path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }
}
