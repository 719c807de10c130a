import Glibc
import TransferCore
import TransferQueue

/// A URL of another tool's command line: it may lack a scheme, and carry a login.
struct FrontURL {
    /// The URL without its login.
    var url: String
    var user: String?
    var password: String?

    /// Parses a URL.
    ///
    /// - Parameter scheme: The scheme of a URL without one.
    init(_ text: String, scheme: String = "http") {
        var text = text
        if !text.contains("://") { text = (text.lowercased().hasPrefix("ftp.") ? "ftp" : scheme) + "://" + text }
        url = text
        guard let slash = text.firstIndex(of: "/"), text[slash...].hasPrefix("//") else { return }
        let start = text.index(slash, offsetBy: 2)
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return }
        let login = authority[..<at]
        url = String(text[..<start] + text[text.index(after: at)...])
        let name = login.prefix { $0 != ":" }
        if !name.isEmpty { user = Self.decoded(name) }
        if name.count < login.count { password = Self.decoded(login.dropFirst(name.count + 1)) }
    }

    var scheme: String { url.prefix { $0 != ":" }.lowercased() }

    var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// The path and the query, without the fragment.
    private var target: Substring {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        return rest.drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
    }

    /// The last part of the path as it is written; empty for a folder.
    var lastSegment: String {
        let path = target.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[path.index(after: slash)...])
    }

    /// The host with its port, in lower case.
    var authority: String {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        return rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    }

    /// The folders of the path, decoded; names that would lead elsewhere are left encoded.
    var folders: [String] {
        let path = target.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/") else { return [] }
        return path[..<slash].split(separator: "/").map { part in
            let name = Self.decoded(part).replacing("/", with: "%2F")
            return name == ".." || name == "." ? name.replacing(".", with: "%2E") : name
        }
    }

    var query: String? {
        let target = target
        guard let mark = target.firstIndex(of: "?") else { return nil }
        return String(target[target.index(after: mark)...])
    }

    /// Whether nothing follows the host.
    var hasNoPath: Bool { target.isEmpty }

    static func decoded(_ text: some StringProtocol) -> String {
        String(decoding: PercentEncoding.decode(text), as: UTF8.self)
    }
}

/// The logins of a command line, which are never stored.
enum FrontLogin {
    /// Sets a login that is sent with the first request, before a server asks for it.
    static func set(_ user: String, _ password: String, to draft: inout ListDraft, at place: ListPlace) {
        guard !draft.hasHeader("Authorization") else { return }
        let login = Base64.encode(Array("\(user):\(password)".utf8))
        draft.set(["headers", "Authorization"], .string("Basic " + login), at: place)
    }

    /// Returns the login that `~/.netrc` has for a server.
    ///
    /// - Parameter mustBePrivate: Whether a file that others may read counts as none.
    static func netrc(for url: FrontURL, mustBePrivate: Bool) -> (user: String, password: String)? {
        guard let home = Composition.environment["HOME"], let host = Origin(anyURL: url.url)?.host else { return nil }
        let path = home + "/.netrc"
        var status = stat()
        guard stat(path, &status) == 0, !mustBePrivate || status.st_mode & 0o077 == 0,
            let text = try? MappedFile(path).withBytes({ String(decoding: $0, as: UTF8.self) }),
            let entry = Netrc(text).entryOrDefault(of: host, user: nil), let user = entry.login
        else { return nil }
        return (user, entry.password)
    }

    /// Sets a login that is sent when a server asks for it.
    static func setAnswer(_ user: String, _ password: String, to draft: inout ListDraft, at place: ListPlace) {
        draft.set(["auth", "user"], .string(user), at: place)
        draft.set(["auth", "password"], .string(password), at: place)
    }
}

/// The names of files that exist.
enum FrontNames {
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns whether a path names a pipe, a device or an open descriptor, which is written to and never replaced.
    static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return false
        case S_IFREG: return ["/dev/fd/", "/proc/self/fd/", "/dev/stderr"].contains(where: path.hasPrefix)
        default: return true
        }
    }

    /// Returns the name, or the name with the first free number behind it: `x.iso.1`, or `x.1.iso`.
    ///
    /// - Parameter taken: The names that other transfers of the line will have.
    static func free(_ path: String, beforeExtension: Bool = false, taken: Set<String> = []) -> String {
        func isFree(_ name: String) -> Bool { !taken.contains(name) && !exists(name) }
        guard !isFree(path) else { return path }
        let (stem, rest) = beforeExtension ? split(path) : (path, "")
        var number = 1
        while !isFree("\(stem).\(number)\(rest)") { number += 1 }
        return "\(stem).\(number)\(rest)"
    }

    /// Splits a name before its extension.
    static func split(_ path: String) -> (stem: String, extension: String) {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    static func joined(_ folder: String?, _ name: String) -> String {
        guard let folder, !folder.isEmpty, !name.hasPrefix("/") else { return name }
        return folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}

/// The content of a file, or of standard input, that a request carries.
enum FrontInput {
    /// Reads a text.
    ///
    /// - Returns: The text, or the reason why it cannot be read.
    static func text(_ path: String) -> Result<String, InputRefusal> {
        do throws(TransferError) {
            let bytes = try MappedFile(path == "-" ? "/dev/stdin" : path).withBytes { Array($0) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .failure(InputRefusal(reason: "\(path) is not text in UTF-8", isBinary: true))
            }
            return .success(text)
        } catch {
            return .failure(InputRefusal(reason: error.message, isBinary: false))
        }
    }

    struct InputRefusal: Error {
        var reason: String
        /// Whether the file can be read, but is no text.
        var isBinary: Bool
    }
}
