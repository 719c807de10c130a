import Glibc
import Synchronization

/// Remembers which folders held nothing when this run first came to them: in those no destination needs to be looked
/// for. Should another program put one there meanwhile, the rename at the end refuses to replace it.
final class FolderCensus: Sendable {
    private let newFolders = Mutex<[Substring: Bool]>([:])

    /// Whether the folder of this file was empty or missing at first. Blocks at the first question: for workers.
    func isNew(folderOf path: String) -> Bool {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
        let folder = path[..<slash]
        return newFolders.withLock { known in
            if let answer = known[folder] { return answer }
            // Runs over very many folders look each file up rather than remember them all.
            guard known.count < 10_000 else { return false }
            let answer = Self.isEmptyOrMissing(String(folder))
            known[folder] = answer
            return answer
        }
    }

    /// Looks anew: what earlier jobs brought is there now.
    func reset() { newFolders.withLock { $0.removeAll() } }

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
