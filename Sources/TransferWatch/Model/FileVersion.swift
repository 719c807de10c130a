public import TransferCore

/// A file as it was when it had been quiet for the settle time: what is to be uploaded once.
///
/// Two names of one file (hard links, and a symbolic link inside the folder with what it leads to) are versions of their
/// own with the same ``identity-swift.property``.
public struct FileVersion: Sendable, Hashable {
    /// Versions that differ in `FileStamp.changed` only are the same.
    public var stamp: FileStamp
    /// Beneath the watched folder, with `/` between folders.
    public var path: String

    public init(_ stamp: FileStamp, path: String) {
        self.stamp = stamp
        self.path = path
    }

    public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, path: String, changed: Int64? = nil) {
        let stamp = FileStamp(device: device, inode: inode, size: size, modified: modified, changed: changed)
        self.init(stamp, path: path)
    }

    /// In bytes.
    public var size: Int64 { stamp.size }
    /// The time of the last change of its content, in nanoseconds since 1970.
    public var modified: Int64 { stamp.modified }

    /// The numbers that make it this version, whatever its name is.
    public var identity: FileStamp { stamp.version }

    /// The last component of the path.
    public var name: Substring { PathText.name(path) }

    /// The path's key among others.
    var key: PathKey { PathKey(path) }

    // Not synthesized: hard links whose names are equivalent text would be one version.
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
    /// How long ago that was, as far as the clocks can be trusted.
    var quietFor: Duration
    /// The file has other names, or this is a symbolic link: who writes it by another name isn't told here.
    var hasOtherNames = false
    /// Whether somebody has it open for writing; `nil` when that wasn't asked, or the kernel doesn't say.
    var isWritten: Bool?

    func version(_ path: String) -> FileVersion { FileVersion(stamp, path: path) }
}

/// The result of a look at a name.
enum FileSnapshot: Sendable, Hashable {
    case file(FileLook)
    /// A symbolic link that leads out of the watched folder, or nowhere.
    case linkLeadsOutside
    /// Nothing, or something that is no regular file.
    case nothing

    var look: FileLook? {
        guard case .file(let look) = self else { return nil }
        return look
    }
}

/// Paths beneath the watched folder. They are cut at the byte `/`: with a combining mark behind it that is another
/// `Character`, and still a slash to the kernel.
enum PathText {
    static func name(_ path: String) -> Substring {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return Substring(path) }
        return path[path.utf8.index(after: slash)...]
    }

    /// The folder that it's in; empty for the watched folder itself.
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
