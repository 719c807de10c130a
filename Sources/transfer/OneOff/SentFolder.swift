import FoundationEssentials
import Glibc
import TransferCore
import TransferWatch

/// A folder whose files are sent once.
struct SentFolder {
    private let path: String
    /// What the names begin with on the server: the folder's own name, as cp(1) has it, or nothing for one that is written
    /// with a slash at its end.
    private let prefix: String
    private let rules: WatchRules

    init(_ written: String, rules: WatchRules) {
        path = Composition.absolute(written)
        self.rules = rules
        let own = written.split(separator: "/").last.map(String.init) ?? ""
        prefix = written.hasSuffix("/") || own == "." || own == ".." ? "" : own + "/"
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The folder's files, sorted by name. Symbolic links to folders aren't followed: they may lead round in a circle.
    ///
    /// - Throws: `Failure` for a folder that can't be read: what is in it would be missing without a word.
    func files() throws(Failure) -> [(path: String, name: String)] {
        var found: [(path: String, name: String)] = []
        try look(beneath: "", into: &found)
        return found
    }

    private func look(beneath folder: String, into found: inout [(path: String, name: String)]) throws(Failure) {
        let here = folder.isEmpty ? path : path + "/" + folder
        for name in try Self.entries(of: here) {
            let inner = folder.isEmpty ? name : folder + "/" + name
            var status = stat()
            guard lstat(here + "/" + name, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where rules.enters(folder: inner): try look(beneath: inner, into: &found)
            case S_IFREG where rules.accepts(file: inner): found.append((here + "/" + name, prefix + inner))
            case S_IFLNK where rules.accepts(file: inner):
                guard stat(here + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                found.append((here + "/" + name, prefix + inner))
            default: continue
            }
        }
    }

    private static func entries(of folder: String) throws(Failure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        } catch {
            let reason =
                access(folder, R_OK | X_OK) == 0 ? "\(error)" : String(cString: strerror(errno)).lowercasedFirst
            throw Failure(.wrongUsage, "can't read the folder \(folder): \(reason)")
        }
    }
}
