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

    /// What is in the folder.
    struct Contents {
        /// Sorted by name, with the names that they get on the server.
        var files: [(path: String, name: String)] = []
        /// Files and folders that can't be sent, with the reason.
        var unreadable: [(path: String, reason: String)] = []
        /// What is no file: links to folders, devices, sockets, pipes.
        var leftOut: [(path: String, reason: String)] = []
    }

    /// The folder's files. Symbolic links to folders aren't followed: they may lead round in a circle.
    ///
    /// - Throws: `Failure` where the folder itself can't be read. What can't be read in it is named by ``Contents``.
    func contents() throws(Failure) -> Contents {
        var found = Contents()
        if let reason = look(beneath: "", into: &found) {
            throw Failure(.wrongUsage, "can't read the folder \(path): \(reason)")
        }
        return found
    }

    /// - Returns: Why the folder can't be read; `nil` where it was.
    private func look(beneath folder: String, into found: inout Contents) -> String? {
        let here = folder.isEmpty ? path : path + "/" + folder
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: here).sorted()
        } catch {
            return access(here, R_OK | X_OK) == 0 ? "\(error)" : Self.reason()
        }
        for name in names {
            let inner = folder.isEmpty ? name : folder + "/" + name
            let place = here + "/" + name
            var status = stat()
            guard lstat(place, &status) == 0 else {
                // A file that went meanwhile is none of the folder's; a name that was repaired is.
                if errno == ENOENT {
                    guard name.unicodeScalars.contains("\u{FFFD}") else { continue }
                    found.unreadable.append((place, "its name isn't UTF-8; rename it"))
                } else {
                    found.unreadable.append((place, Self.reason()))
                }
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where rules.enters(folder: inner):
                if let reason = look(beneath: inner, into: &found) { found.unreadable.append((place, reason)) }
            case S_IFDIR: continue
            case _ where !rules.accepts(file: inner): continue
            case S_IFREG: take(place, inner, into: &found)
            case S_IFLNK:
                guard stat(place, &status) == 0 else {
                    found.unreadable.append((place, "a symbolic link, \(Self.reason())"))
                    continue
                }
                switch status.st_mode & S_IFMT {
                case S_IFREG: take(place, inner, into: &found)
                case S_IFDIR: found.leftOut.append((place, "a symbolic link to a folder"))
                default: found.leftOut.append((place, "no regular file"))
                }
            default: found.leftOut.append((place, "no regular file"))
            }
        }
        return nil
    }

    private func take(_ place: String, _ inner: String, into found: inout Contents) {
        if access(place, R_OK) == 0 {
            found.files.append((place, prefix + inner))
        } else {
            found.unreadable.append((place, Self.reason()))
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)).lowercasedFirst }
}
