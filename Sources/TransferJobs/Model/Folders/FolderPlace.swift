import CTransferLinux
import Glibc
import TransferCore

/// The place of a folder as the kernel sees it, whatever its path: through links, through a bind mount, or in different
/// case on a case-insensitive file system. It blocks.
package struct FolderPlace: Sendable, Hashable {
    /// A folder on the path from the file system's root, identified by its device and inode.
    package struct Step: Sendable, Hashable {
        package var device: UInt64
        package var inode: UInt64
        /// The name under which its parent lists the folder.
        package var name: String

        package init(device: UInt64, inode: UInt64, name: String) {
            self.device = device
            self.inode = inode
            self.name = name
        }

        fileprivate func isSame(as other: Step) -> Bool { device == other.device && inode == other.inode }
    }

    /// A path within a file system, which is the same at all of its mount points.
    package struct Location: Sendable, Hashable {
        /// The major and minor device number, as in mountinfo (proc_pid_mountinfo(5)).
        package var device: String
        package var names: [String]

        package init(device: String, names: [String]) {
            self.device = device
            self.names = names
        }
    }

    /// The folders from the root to the folder itself, or to the nearest existing folder above it.
    package var steps: [Step]
    /// The location within the file system; `nil` where the kernel does not report it.
    package var location: Location?
    /// The names beneath the last step that do not exist.
    package var missing: [String]

    package init(steps: [Step], location: Location? = nil, missing: [String] = []) {
        self.steps = steps
        self.location = location
        self.missing = missing
    }

    /// Returns the path from another folder to this one.
    ///
    /// - Returns: The names from the other folder to this one, empty for the same folder; `nil` where this one is not
    ///   inside the other.
    package func path(from other: FolderPlace) -> [String]? { byNumbers(from: other) ?? byLocation(from: other) }

    private func byNumbers(from other: FolderPlace) -> [String]? {
        guard let last = other.steps.last, let index = steps.lastIndex(where: { $0.isSame(as: last) }) else {
            return nil
        }
        return Self.rest(of: steps[(index + 1)...].map(\.name) + missing, behind: other.missing)
    }

    /// Compares locations, since inode numbers do not reveal a folder inside the other one that is mounted elsewhere
    /// too.
    private func byLocation(from other: FolderPlace) -> [String]? {
        guard let location, let there = other.location, location.device == there.device else { return nil }
        return Self.rest(of: location.names + missing, behind: there.names + other.missing)
    }

    private static func rest(of names: [String], behind beginning: [String]) -> [String]? {
        guard names.count >= beginning.count, zip(names, beginning).allSatisfy({ $0.utf8.elementsEqual($1.utf8) })
        else { return nil }
        return Array(names[beginning.count...])
    }
}

extension FolderPlace {
    /// Finds the place of a path.
    ///
    /// - Parameter path: An absolute path; components that do not exist keep their spelling.
    /// - Returns: `nil` where not even the root can be inspected.
    package static func find(_ path: String) -> FolderPlace? {
        var names = WatchedPath.components(path)
        var missing: [String] = []
        while true {
            let folder = transfer_open_place(AT_FDCWD, "/" + names.joined(separator: "/"), 1)
            if folder >= 0 {
                defer { close(folder) }
                return place(folder, missing: missing)
            }
            guard let name = names.popLast() else { return nil }
            missing.insert(name, at: 0)
        }
    }

    private static func place(_ folder: Int32, missing: [String]) -> FolderPlace? {
        guard let path = link("/proc/self/fd/\(folder)") else { return nil }
        let names = WatchedPath.components(path)
        var steps: [Step] = []
        var current = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        defer { if current >= 0 { close(current) } }
        // The walk goes from the folder up to the root, which is its own parent.
        for depth in 0...names.count {
            var look = transfer_file_look()
            guard current >= 0, transfer_look_at_descriptor(current, &look) == 0 else { return nil }
            let parent = transfer_open_place(current, "..", 0)
            let name =
                depth < names.count
                ? listedName(names[names.count - 1 - depth], look.inode, in: parent) : ""
            steps.insert(Step(device: look.device, inode: look.inode, name: name), at: 0)
            close(current)
            current = parent
        }
        return FolderPlace(
            steps: steps, location: MountTable.read().location(ofDescriptor: folder, names), missing: missing)
    }

    /// Returns the name that the parent's listing has. A case-insensitive file system accepts other spellings of it.
    private static func listedName(_ name: String, _ inode: UInt64, in parent: Int32) -> String {
        guard parent >= 0, let entries = transfer_open_entries(parent) else { return name }
        defer { closedir(entries) }
        var folded: String?
        var kind: Int32 = 0
        var error: Int32 = 0
        while let bytes = transfer_next_entry(entries, &kind, &error) {
            guard let found = String(validatingCString: bytes) else { continue }
            if found.utf8.elementsEqual(name.utf8) { return name }
            if folded == nil, found.lowercased() == name.lowercased() {
                var look = transfer_file_look()
                if transfer_look(parent, found, &look) == 0, look.inode == inode { folded = found }
            }
        }
        return folded ?? name
    }

    private static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
