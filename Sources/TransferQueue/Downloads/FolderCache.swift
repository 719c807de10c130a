import CTransferLinux
import Glibc
import Synchronization
import TransferJobs

/// Remembers which folders held nothing when this run first came to them: in those no destination needs to be looked
/// for. Should another program put one there meanwhile, the rename at the end refuses to replace it.
final class FolderCache: Sendable {
    private let newFolders = Mutex<[Substring: Bool]>([:])
    /// By folder, and by the name that such a file is for.
    private let numberedParts = Mutex<[Substring: [String: [Int]]]>([:])
    /// Folders in which jobs left partial files.
    private let left = Mutex<Set<Substring>>([])
    /// Folders that this run has made, and whose own names aren't known to be on the disk.
    private let made = Mutex<Set<String>>([])

    /// What jobs have brought; another run of their batches doesn't change that.
    let brought = BroughtFiles()
    /// Names of jobs in folders that fold case.
    let foldedNames = FoldedNames()

    private static let mostFolders = 10_000

    /// Whether the folder of this file was empty or missing at first. Blocks at the first question: for workers.
    func isNew(folderOf path: String) -> Bool {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
        let folder = path[..<slash]
        if left.withLock({ $0.contains(folder) }) { return false }
        return newFolders.withLock { known in
            if let answer = known[folder] { return answer }
            // Runs over very many folders look each file up rather than remember them all.
            guard known.count < Self.mostFolders else { return false }
            let answer = Self.isEmptyOrMissing(String(folder))
            known[folder] = answer
            return answer
        }
    }

    /// The numbers of the partial files (`NAME.1.part`, …) that this file had when the run first came to its folder; those
    /// that the run makes itself are on record. Blocks at the first question: for workers.
    func partNumbers(of path: String) -> [Int] {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return [] }
        let folder = path[..<slash]
        return numberedParts.withLock { known in
            if known[folder] == nil {
                guard known.count < Self.mostFolders else { return [] }
                known[folder] = Self.listParts(String(folder))
            }
            return known[folder]?[String(path[path.utf8.index(after: slash)...])] ?? []
        }
    }

    /// A job that hasn't ended leaves a partial file, which nothing tells of once another job has taken its place.
    func noteLeft(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        left.withLock { left in
            if left.count < Self.mostFolders { left.insert(path[..<slash]) }
        }
    }

    /// Looks anew: what earlier jobs brought is there now.
    func reset() {
        newFolders.withLock { $0.removeAll() }
        numberedParts.withLock { $0.removeAll() }
    }

    /// One listing costs less than a look for each number of each file.
    private static func listParts(_ folder: String) -> [String: [Int]] {
        guard let listing = opendir(folder.isEmpty ? "/" : folder) else { return [:] }
        defer { closedir(listing) }
        var found: [String: [Int]] = [:]
        while let entry = readdir(listing) {
            let part = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                NumberedPart(name.prefix { $0 != 0 })
            }
            if let part { found[part.file, default: []].append(part.number) }
        }
        return found
    }

    func noteMade(_ folders: [String]) {
        guard !folders.isEmpty else { return }
        made.withLock { $0.formUnion(folders) }
    }

    /// Makes the names in these folders durable, and with them the folders' own, up to one that was there before: a file
    /// whose folder is gone after a loss of power is gone, too. Blocks: for workers.
    ///
    /// - Parameter sync: Makes the names in one folder durable.
    func sync(_ folders: Set<String>, by sync: (String) -> Void = { FolderMaker.sync($0) }) {
        var (rest, known) = (Array(folders), folders)
        var durable: [String] = []
        while let folder = rest.popLast() {
            sync(folder)
            guard made.withLock({ $0.contains(folder) }) else { continue }
            durable.append(folder)
            let parent = FolderMaker.parent(of: folder)
            if known.insert(parent).inserted { rest.append(parent) }
        }
        // Not before: another group of files may wait for the same folders.
        made.withLock { $0.subtract(durable) }
    }

    private static func isEmptyOrMissing(_ folder: String) -> Bool {
        guard let listing = opendir(folder) else { return errno == ENOENT }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = entry.pointee.d_name
            let isDots = name.0 == 0x2E && (name.1 == 0 || (name.1 == 0x2E && name.2 == 0))
            if !isDots { return false }
        }
        return true
    }
}
