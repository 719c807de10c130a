import CTransferLinux
import Glibc
import TransferCore

/// The place of a folder as the kernel sees it, however its path is written: through links, by a bind mount, or in other case
/// on a file system that folds it. Blocks.
package struct FolderPlace: Sendable, Hashable {
    /// A folder on the way from the file system's root, by its numbers.
    package struct Step: Sendable, Hashable {
        package var device: UInt64
        package var inode: UInt64
        /// The name that its parent has for it.
        package var name: String

        package init(device: UInt64, inode: UInt64, name: String) {
            self.device = device
            self.inode = inode
            self.name = name
        }

        fileprivate func isSame(as other: Step) -> Bool { device == other.device && inode == other.inode }
    }

    /// A path within a file system, which is the same for all places that it's mounted at.
    package struct Location: Sendable, Hashable {
        /// Major and minor number, as mountinfo has them (proc_pid_mountinfo(5)).
        package var device: String
        package var names: [String]

        package init(device: String, names: [String]) {
            self.device = device
            self.names = names
        }
    }

    /// From the root to the folder itself, or to the nearest folder above it that exists.
    package var steps: [Step]
    /// `nil` where the kernel doesn't tell.
    package var location: Location?
    /// The names that are missing beneath that.
    package var missing: [String]

    package init(steps: [Step], location: Location? = nil, missing: [String] = []) {
        self.steps = steps
        self.location = location
        self.missing = missing
    }

    /// - Returns: The names that lead from another folder to this one: none where they are the same folder. `nil` where this
    ///   one isn't in the other one.
    package func path(from other: FolderPlace) -> [String]? { byNumbers(from: other) ?? byLocation(from: other) }

    private func byNumbers(from other: FolderPlace) -> [String]? {
        guard let last = other.steps.last, let index = steps.lastIndex(where: { $0.isSame(as: last) }) else {
            return nil
        }
        return Self.rest(of: steps[(index + 1)...].map(\.name) + missing, behind: other.missing)
    }

    /// Numbers don't tell where a folder within the other one is mounted elsewhere, too.
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
    /// - Parameter path: Absolute. What of it doesn't exist is taken as it's written.
    /// - Returns: `nil` where not even the root can be looked at.
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
        // From the folder up to the root, which is its own parent.
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

    /// The name that a reading of the parent finds: a file system that folds case shows the name that was asked for.
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
