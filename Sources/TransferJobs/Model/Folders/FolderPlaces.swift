package import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine
package import TransferWatch

/// The kernel's data about a file in a folder.
package struct FileSeen: Sendable, Hashable {
    package var stamp: FileStamp
    /// The number of the file's names (hard links).
    package var links: UInt64

    package init(_ look: transfer_file_look) {
        stamp = FileStamp(
            device: look.device, inode: look.inode, size: look.size, modified: look.modified, changed: look.changed)
        links = look.links
    }
}

/// The result of inspecting a path.
package enum PlaceLook: Sendable, Hashable {
    case file(FileSeen)
    /// The path leads neither to a file nor to a link to one.
    case nothing
    /// The kernel gave no answer, because of this error.
    case unclear(Int32)

    /// Creates the result for an error of opening or inspecting.
    package init(error: Int32) { self = error == ENOENT || error == ENOTDIR ? .nothing : .unclear(error) }
}

/// The folders beneath a watched one (`FolderWalk`), with the last one kept open. Most files inspected in succession
/// are in the same folder. Its functions block, and must not run on several threads at once.
package final class FolderPlaces {
    private let root: String
    private var last: (path: PathKey, descriptor: Int32)?

    package init(_ root: String) { self.root = root }

    deinit { if let last, last.descriptor >= 0 { close(last.descriptor) } }

    /// Opens a folder.
    ///
    /// - Returns: A descriptor that is valid until the next call, or the negative error number.
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

    /// Returns the regular file at a path; `nil` for anything else, including a link to a file.
    package func file(_ path: String) -> FileSeen? {
        let folder = open(WatchedPath.folder(path))
        return folder < 0 ? nil : Self.file(WatchedPath.name(path), in: folder)
    }

    /// Returns the creation time of the file at a path, in nanoseconds since 1970; `nil` where its file system does not
    /// report it.
    package func born(_ path: String) -> Int64? {
        let folder = open(WatchedPath.folder(path))
        let born = folder < 0 ? Int64.min : transfer_born(folder, WatchedPath.name(path))
        return born == .min ? nil : born
    }

    package static func file(_ name: String, in folder: Int32) -> FileSeen? {
        if case .file(let seen) = look(name, in: folder) { seen } else { nil }
    }

    /// Returns the result of inspecting a path. Links are followed, since the watcher offers their targets under the
    /// links' names.
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

    /// Returns the device of the file system that holds, or held, a path: the one of the nearest existing folder above
    /// it.
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
    /// Returns whether this is the version of a file that was seen; device numbers change at a reboot.
    package func isSame(as seen: FileStamp?) -> Bool { stamp.onAnyDevice.isSameVersion(as: seen) }
}
