/// Paths beneath a watched folder; cut at bytes, as the kernel does.
package enum WatchedPath {
    package static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The folder that it's in; empty for the watched folder itself.
    package static func folder(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(path[..<slash])
    }

    package static func name(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// The identity of the job for a version of the file.
    package static func identity(_ path: String, history: Int64, number: Int = 1) -> String {
        number == 1 ? "\(path)@\(history)" : "\(path)@\(history).\(number)"
    }

    /// The file's path, of a job's identity.
    package static func path(ofJob identity: String) -> String {
        guard let mark = identity.utf8.lastIndex(of: UInt8(ascii: "@")) else { return identity }
        return String(identity[..<mark])
    }

    package static func trimmed(_ path: String) -> String {
        var path = Substring(path)
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = Substring(path.utf8.dropLast()) }
        return String(path)
    }
}
