package import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine
package import TransferWatch

/// What the kernel says of a name in a folder.
package struct FileSeen: Sendable, Hashable {
    package var stamp: FileStamp
    /// How many names it has.
    package var links: UInt64

    package init(_ look: transfer_file_look) {
        stamp = FileStamp(
            device: look.device, inode: look.inode, size: look.size, modified: look.modified, changed: look.changed)
        links = look.links
    }
}

/// What is at a path.
package enum PlaceLook: Sendable, Hashable {
    case file(FileSeen)
    /// No file, nor a link to one.
    case nothing
    /// The kernel doesn't say, for this error.
    case unclear(Int32)

    /// For an error of opening or looking.
    package init(error: Int32) { self = error == ENOENT || error == ENOTDIR ? .nothing : .unclear(error) }
}

/// Folders beneath a watched one (`FolderWalk`), the last one kept: most files that are looked at one after
/// another are in the same. Blocks: for workers. Not for several threads at once.
package final class FolderPlaces {
    private let root: String
    private var last: (path: PathKey, descriptor: Int32)?

    package init(_ root: String) { self.root = root }

    deinit { if let last, last.descriptor >= 0 { close(last.descriptor) } }

    /// - Returns: A descriptor that is good until the next call, or the error's number below zero.
    package func open(_ path: String) -> Int32 {
        if let last, last.path == PathKey(path) { return last.descriptor }
        if let last, last.descriptor >= 0 { close(last.descriptor) }
        let descriptor = Self.open(root, path)
        last = (PathKey(path), descriptor)
        return descriptor
    }

    private static func open(_ root: String, _ path: String) -> Int32 {
        let folder = FolderWalk.open(root: root)
        guard folder >= 0 else { return folder }
        defer { close(folder) }
        return FolderWalk.open(path, beneath: folder)
    }

    /// The regular file at a path, if there is one; of a link, nothing.
    package func file(_ path: String) -> FileSeen? {
        let folder = open(WatchedPath.folder(path))
        return folder < 0 ? nil : Self.file(WatchedPath.name(path), in: folder)
    }

    /// When the file at a path was made, in nanoseconds since 1970; `nil` where its file system doesn't tell.
    package func born(_ path: String) -> Int64? {
        let folder = open(WatchedPath.folder(path))
        let born = folder < 0 ? Int64.min : transfer_born(folder, WatchedPath.name(path))
        return born == .min ? nil : born
    }

    package static func file(_ name: String, in folder: Int32) -> FileSeen? {
        if case .file(let seen) = look(name, in: folder) { seen } else { nil }
    }

    /// What is at a path; of a link, what it leads to, as the watcher offers that under the link's name.
    package func look(_ path: String) -> PlaceLook {
        let folder = open(WatchedPath.folder(path))
        guard folder >= 0 else { return PlaceLook(error: -folder) }
        return Self.look(WatchedPath.name(path), in: folder, followsLinks: true)
    }

    package static func look(_ name: String, in folder: Int32, followsLinks: Bool = false) -> PlaceLook {
        var look = transfer_file_look()
        let error = transfer_look(folder, name, &look)
        guard error == 0 else { return PlaceLook(error: error) }
        if followsLinks, mode_t(look.kind) == S_IFLNK {
            let target = transfer_open_target(folder, name)
            guard target >= 0 else { return PlaceLook(error: -target) }
            defer { close(target) }
            let error = transfer_look_at_descriptor(target, &look)
            guard error == 0 else { return PlaceLook(error: error) }
        }
        return mode_t(look.kind) == S_IFREG ? .file(FileSeen(look)) : .nothing
    }

    /// The file system that a path is, or was, on: that of the nearest folder above it which is there.
    package func device(above path: String) -> UInt64? {
        var folder = WatchedPath.folder(path)
        while true {
            let descriptor = open(folder)
            var look = transfer_file_look()
            if descriptor >= 0, transfer_look_at_descriptor(descriptor, &look) == 0 { return look.device }
            if folder.isEmpty { return nil }
            folder = WatchedPath.folder(folder)
        }
    }
}

extension FileVersion {
    /// Whether this is what was seen; devices have other numbers after a reboot.
    package func isSame(as seen: FileStamp?) -> Bool { stamp.onAnyDevice.isSameVersion(as: seen) }
}
