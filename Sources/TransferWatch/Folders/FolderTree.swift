import TransferCore

/// The identity of a folder, by which it is recognized under another path.
struct FolderIdentity: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64
}

/// The folders that are watched or polled: the watch of each path, and the folders that have to be read.
///
/// Folders have numbers that are never reused, so that an answer about a removed folder is recognized.
struct FolderTree: Sendable {
    typealias ID = Int
    static let root: ID = 0

    struct Folder: Sendable {
        var name: String
        /// The parent folder; `nil` for the watched folder, and for one that is being moved.
        var parent: ID?
        var children: [PathKey: ID] = [:]
        var watch: Int32?
        var identity: FolderIdentity?
        /// Whether the folder is read repeatedly instead of being watched.
        var isPolled = false
        /// Whether the folder waits to be read.
        var isDirty = false
        /// The number of readings of this folder, so that the end of one shows which children were not found.
        var reading = 0
        /// The reading of the parent that last found this folder.
        var metIn = 0
        /// Whether the folder appeared after the watcher started, with all its content.
        var isNew = false
    }

    private var folders: [ID: Folder] = [FolderTree.root: Folder(name: "")]
    private var byWatch: [Int32: ID] = [:]
    private var lastID = FolderTree.root
    private var dirty: [ID] = []
    private var nextDirty = 0

    var count: Int { folders.count }
    private(set) var polledCount = 0
    private(set) var dirtyCount = 0

    subscript(id: ID) -> Folder? { folders[id] }

    func folder(ofWatch watch: Int32) -> ID? { byWatch[watch] }

    /// Returns the folder at a path.
    ///
    /// - Parameter path: The path beneath the root; empty for the root itself.
    func folder(at path: some StringProtocol) -> ID? {
        var id = Self.root
        for name in PathText.components(String(path)) {
            guard let next = child(name, of: id) else { return nil }
            id = next
        }
        return id
    }

    func child(_ name: String, of parent: ID) -> ID? { folders[parent]?.children[PathKey(name)] }

    /// Returns the path beneath the watched folder, which is empty for that folder; `nil` if the folder is gone or is
    /// being moved.
    func path(of id: ID) -> String? {
        var names: [String] = []
        var next = id
        while next != Self.root {
            guard let folder = folders[next], let parent = folder.parent else { return nil }
            names.append(folder.name)
            next = parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// Returns the folders that contain it, the nearest first.
    func ancestors(of id: ID) -> [ID] {
        var found: [ID] = []
        var next = folders[id]?.parent
        while let parent = next {
            found.append(parent)
            next = folders[parent]?.parent
        }
        return found
    }

    // MARK: Growing and shrinking

    /// Notes that the folder exists. An unknown folder is marked to be read.
    ///
    /// - Parameter isNew: Whether an unknown folder appeared after the watcher started.
    @discardableResult
    mutating func meet(_ name: String, in parent: ID, isNew: Bool = false) -> ID? {
        guard let reading = folders[parent]?.reading else { return nil }
        if let known = folders[parent]?.children[PathKey(name)] {
            folders[known]?.metIn = reading
            return known
        }
        lastID += 1
        folders[lastID] = Folder(name: name, parent: parent, metIn: reading, isNew: isNew)
        folders[parent]?.children[PathKey(name)] = lastID
        markDirty(lastID)
        return lastID
    }

    /// Removes a folder and all folders beneath it.
    ///
    /// - Returns: The watches of the removed folders, which must be ended.
    mutating func remove(_ id: ID) -> [Int32] {
        detach(id)
        var watches: [Int32] = []
        var open = [id]
        while let next = open.popLast() {
            guard let folder = folders.removeValue(forKey: next) else { continue }
            if folder.isDirty { dirtyCount -= 1 }
            if folder.isPolled { polledCount -= 1 }
            if let watch = folder.watch {
                byWatch[watch] = nil
                watches.append(watch)
            }
            open += folder.children.values
        }
        return watches
    }

    /// Takes a folder out of its parent, and keeps it with all folders beneath it.
    mutating func detach(_ id: ID) {
        guard let folder = folders[id], let parent = folder.parent else { return }
        folders[id]?.parent = nil
        let key = PathKey(folder.name)
        if folders[parent]?.children[key] == id { folders[parent]?.children[key] = nil }
    }

    /// Puts a detached folder under its new name, which must be free; the parent must not be beneath it.
    mutating func attach(_ id: ID, as name: String, in parent: ID) {
        guard folders[id] != nil, let reading = folders[parent]?.reading else { return }
        folders[id]?.name = name
        folders[id]?.parent = parent
        folders[id]?.metIn = reading
        folders[parent]?.children[PathKey(name)] = id
    }

    // MARK: Watches

    mutating func setWatch(_ watch: Int32?, of id: ID) {
        if let old = folders[id]?.watch, old != watch { byWatch[old] = nil }
        folders[id]?.watch = watch
        if let watch, folders[id] != nil { byWatch[watch] = id }
    }

    mutating func setIdentity(_ identity: FolderIdentity, of id: ID) { folders[id]?.identity = identity }

    mutating func setPolled(_ isPolled: Bool, of id: ID) {
        guard let folder = folders[id], folder.isPolled != isPolled else { return }
        folders[id]?.isPolled = isPolled
        polledCount += isPolled ? 1 : -1
    }

    // MARK: Reading

    mutating func markDirty(_ id: ID) {
        guard folders[id]?.isDirty == false else { return }
        folders[id]?.isDirty = true
        dirtyCount += 1
        dirty.append(id)
    }

    mutating func markAllDirty(where matches: (Folder) -> Bool = { _ in true }) {
        for id in folders.filter({ matches($0.value) }).keys.sorted() { markDirty(id) }
    }

    /// Marks the folder and all folders beneath it to be read.
    mutating func markDirty(from id: ID) {
        var open = [id]
        while let next = open.popLast() {
            markDirty(next)
            open += folders[next].map { Array($0.children.values) } ?? []
        }
    }

    /// Returns the folder that has waited longest to be read.
    mutating func popDirty() -> ID? {
        while nextDirty < dirty.count {
            let id = dirty[nextDirty]
            nextDirty += 1
            if nextDirty > 1024, nextDirty * 2 > dirty.count {
                dirty.removeFirst(nextDirty)
                nextDirty = 0
            }
            guard folders[id]?.isDirty == true else { continue }
            folders[id]?.isDirty = false
            dirtyCount -= 1
            return id
        }
        dirty.removeAll(keepingCapacity: false)
        nextDirty = 0
        return nil
    }

    mutating func beginReading(_ id: ID) { folders[id]?.reading += 1 }

    /// Returns the children that the reading has not found.
    func unmet(in id: ID) -> [ID] {
        guard let folder = folders[id] else { return [] }
        return folder.children.values.filter { folders[$0]?.metIn != folder.reading }.sorted()
    }
}
