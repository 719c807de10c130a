import Glibc
public import TransferCore

/// The owner of a file that has the name of a partial file. Only our own is opened for writing; every other one is left
/// as it is, and the download takes another name.
public enum PartOwnership: Sendable, Hashable {
    case ours
    /// Says whose, for people.
    case foreign(String)

    /// The queue's own record of the name, apart from the file.
    public enum Claim: Sendable, Hashable {
        case none
        /// The name was recorded; nothing is known that tells the file from another one of that name.
        case name
        /// The name, and the number of the inode that had it.
        case inode(UInt64)
    }

    /// The mark that a partial file has in its extended attributes (`PartRecord`), or why it has none.
    enum Bears: Sendable, Hashable, CaseIterable {
        /// A record, or the mark of a file that we made.
        case mark
        /// The file bears no mark and no record, although its file system holds such things, or tells files apart by
        /// the numbers of their inodes.
        case nothing
        /// The partial file's file system holds no extended attributes, and may make up the numbers of inodes at each mount.
        case unsupported
    }

    /// Judges what can be seen without opening the file.
    ///
    /// - Parameter isOwn: Whether its owner is the one that files get which we make in its folder.
    static func ofInode(mode: UInt32, links: UInt64, isOwn: Bool) -> PartOwnership {
        switch mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: return .foreign("a symbolic link")
        case let kind: return .foreign(FileKind(kind).words)
        }
        guard isOwn else { return .foreign("another user's file") }
        // Writing to it would change what the other name shows.
        return links == 1 ? .ours : .foreign("a file with \(links) names")
    }

    /// Judges a regular file of ours by what it holds, and by what was recorded of it.
    static func ofContent(size: Int64, bears: Bears, inode: UInt64, claim: Claim) -> PartOwnership {
        // Nothing is lost with an empty one.
        if size == 0 || bears == .mark || matches(claim, inode: inode, bears: bears) { return .ours }
        return .foreign("a file that this program didn't make")
    }

    /// Whether what was recorded elsewhere speaks of this very file.
    static func matches(_ claim: Claim, inode: UInt64, bears: Bears) -> Bool {
        switch claim {
        case .none: false
        case .name: true
        // The numbers may be made up (vfat, FUSE).
        case .inode(let known): known == inode || bears == .unsupported
        }
    }
}

extension ResumeData {
    /// The claim of this record on the file with that name.
    public func claim(on path: String) -> PartOwnership.Claim {
        guard partialFile == path else { return .none }
        return partialInode.map { .inode($0) } ?? .name
    }
}

/// The kind of something with a name in a folder that is no regular file.
public enum FileKind: Sendable, Hashable {
    case regular, folder, fifo, socket, device, other

    public init(_ mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: self = .other
        }
    }

    /// With an article, for a sentence.
    public var words: String {
        switch self {
        case .regular: "a file"
        case .folder: "a folder"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .device: "a device"
        case .other: "no regular file"
        }
    }
}
