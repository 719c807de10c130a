import FoundationEssentials
import Glibc
import TransferCore
import TransferWatch

/// A folder whose files are sent once.
struct SentFolder {
    private let path: String
    /// The prefix of names on the server: the folder's own name, as for cp(1), or nothing for a path with a slash at
    /// its end.
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

    /// The content of the folder.
    struct Contents {
        /// The files sorted by name, with their names on the server.
        var files: [(path: String, name: String)] = []
        /// The files and folders that cannot be sent, with the reason.
        var unreadable: [(path: String, reason: String)] = []
        /// The entries that are no files: links to folders, devices, sockets, pipes.
        var leftOut: [(path: String, reason: String)] = []
    }

    /// Returns the folder's files. Symbolic links to folders are not followed, as they may form a circle.
    ///
    /// - Throws: `Failure` where the folder itself cannot be read. ``Contents`` names unreadable entries.
    func contents() throws(Failure) -> Contents {
        var found = Contents()
        if let reason = look(beneath: "", into: &found) {
            throw Failure(.wrongUsage, "cannot read the folder \(path): \(reason)")
        }
        return found
    }

    /// Reads a folder.
    ///
    /// - Returns: Why the folder cannot be read; `nil` where it was read.
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
                // A file that was removed meanwhile is skipped. A name that is not UTF-8 was repaired, so that it is
                // not found either.
                if errno == ENOENT {
                    guard name.unicodeScalars.contains("\u{FFFD}") else { continue }
                    found.unreadable.append((place, "its name is not UTF-8; rename it"))
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
