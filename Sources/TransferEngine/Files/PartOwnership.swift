import Glibc
public import TransferCore

/// The owner of a file with the name of a partial file.
///
/// Only our own file is opened for writing. Every other one stays unchanged, and the download takes another name.
public enum PartOwnership: Sendable, Hashable {
    case ours
    /// The file belongs to another program; the text describes it for people.
    case foreign(String)

    /// The queue's own record of the name, apart from the file.
    public enum Claim: Sendable, Hashable {
        case none
        /// The name was recorded, without a fact that distinguishes the file from another one of that name.
        case name
        /// The name was recorded with the number of the inode that had it.
        case inode(UInt64)
    }

    /// The mark of a partial file in its extended attributes (`PartRecord`), or the reason why it has none.
    enum Bears: Sendable, Hashable, CaseIterable {
        /// The file has a record, or the mark of a file that we made.
        case mark
        /// The file has no mark and no record, although its file system supports both, or keeps stable inode numbers.
        case nothing
        /// The file system supports no extended attributes, and may invent inode numbers at each mount.
        case unsupported
    }

    /// Judges a file by the facts that are known without opening it.
    ///
    /// - Parameter isOwn: Whether its owner is the one of files that we make in its folder.
    static func ofInode(mode: UInt32, links: UInt64, isOwn: Bool) -> PartOwnership {
        switch mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: return .foreign("a symbolic link")
        case let kind: return .foreign(FileKind(kind).words)
        }
        guard isOwn else { return .foreign("another user's file") }
        // Writing to the file would change the content of its other names.
        return links == 1 ? .ours : .foreign("a file with \(links) names")
    }

    /// Judges a regular file of ours by its content, and by the record of it.
    static func ofContent(size: Int64, bears: Bears, inode: UInt64, claim: Claim) -> PartOwnership {
        // Nothing is lost with an empty file.
        if size == 0 || bears == .mark || matches(claim, inode: inode, bears: bears) { return .ours }
        return .foreign("a file that this program did not make")
    }

    /// Returns whether a record elsewhere describes this very file.
    static func matches(_ claim: Claim, inode: UInt64, bears: Bears) -> Bool {
        switch claim {
        case .none: false
        case .name: true
        // The numbers may be invented by the file system (vfat, FUSE).
        case .inode(let known): known == inode || bears == .unsupported
        }
    }
}

extension ResumeData {
    /// Returns the claim of this record on the file with that name.
    public func claim(on path: String) -> PartOwnership.Claim {
        guard partialFile == path else { return .none }
        return partialInode.map { .inode($0) } ?? .name
    }
}

/// The kind of an entry in a folder.
public enum FileKind: Sendable, Hashable {
    case regular, folder, fifo, socket, device, other

    /// Creates the kind of a `st_mode`.
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

    /// The kind with an article, for a sentence.
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
