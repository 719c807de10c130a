import CTransferLinux
import Glibc
import Synchronization
import TransferJobs

/// A memory of folders that were empty when this run first used them, so that no destination in them has to be looked
/// up. If another program adds a file meanwhile, the final rename refuses to replace it.
final class FolderCache: Sendable {
    private let newFolders = Mutex<[Substring: Bool]>([:])
    /// The numbers of partial files, by folder and by the name of the complete file.
    private let numberedParts = Mutex<[Substring: [String: [Int]]]>([:])
    /// The folders in which jobs left partial files.
    private let left = Mutex<Set<Substring>>([])
    /// The folders that this run has made, and whose own names may not be durable yet.
    private let made = Mutex<Set<String>>([])

    /// The files that jobs have brought; it survives further runs of their batches.
    let brought = BroughtFiles()
    /// The names of jobs in folders that fold case.
    let foldedNames = FoldedNames()

    private static let mostFolders = 10_000

    /// Returns whether the folder of this file was empty or missing at first. Blocks at the first call for a folder, so
    /// it belongs on a worker thread.
    func isNew(folderOf path: String) -> Bool {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
        let folder = path[..<slash]
        if left.withLock({ $0.contains(folder) }) { return false }
        return newFolders.withLock { known in
            if let answer = known[folder] { return answer }
            // Beyond this limit, each file is looked up instead, to bound the memory.
            guard known.count < Self.mostFolders else { return false }
            let answer = Self.isEmptyOrMissing(String(folder))
            known[folder] = answer
            return answer
        }
    }

    /// Returns the numbers of the partial files (`NAME.1.part`, …) that existed when the run first used the folder.
    /// The run's own partial files are recorded elsewhere. Blocks at the first call for a folder, so it belongs on a
    /// worker thread.
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

    /// Notes a partial file of an unfinished job, which has no other record once another job has replaced that job.
    func noteLeft(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        left.withLock { left in
            if left.count < Self.mostFolders { left.insert(path[..<slash]) }
        }
    }

    /// Forgets the observations, because the files of earlier jobs are there now.
    func reset() {
        newFolders.withLock { $0.removeAll() }
        numberedParts.withLock { $0.removeAll() }
    }

    /// Lists the partial files of a folder; one listing costs less than a lookup for each number of each file.
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

    /// Makes the names in these folders durable, and the names of the folders themselves, up to an older one. Otherwise
    /// a loss of power could remove the folder with its files. Blocks, so it belongs on a worker thread.
    ///
    /// - Parameter sync: A function that makes the names in one folder durable.
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
        // The folders stay marked until here, because another group of files may wait for the same folders.
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
