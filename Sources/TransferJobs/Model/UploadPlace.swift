import TransferCore

/// The place at a server that an upload's URL denotes, independent of the URL's spelling. It has no fragment, which is
/// not sent (RFC 3986 §3.5), and no default port. Dot segments are resolved, and percent codes have one form (RFC 3986
/// §6.2.2). Two uploads to one place replace each other.
enum UploadPlace {
    /// Returns the key of a place.
    ///
    /// - Parameter url: The URL in its canonical spelling (`URLSpelling`), without secrets.
    /// - Returns: A text that all URLs of one place share.
    static func key(of url: String) -> String {
        guard let parts = Parts(url), !parts.isPlain else { return url }
        var key = parts.scheme + "://" + parts.authority
        key += parts.isObject ? "/" + names(parts, keepsEmpty: true) : "/" + names(parts, keepsEmpty: false)
        if let query = parts.query { key += "?" + respelt(query, separators: Array("&=+/:?@!$'()*,;".utf8)) }
        return key
    }

    /// Returns the path's names. For a file server, a trailing slash makes no difference; in a bucket it makes a
    /// different name.
    private static func names(_ parts: Parts, keepsEmpty: Bool) -> String {
        var names: [String] = []
        var path = parts.path
        if parts.isFTP, let end = typeCode(in: path) { path = path[..<end] }
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: !keepsEmpty) {
            let name = respelt(part, separators: [])
            switch name {
            case "." where !keepsEmpty: continue
            case ".." where !keepsEmpty: _ = names.popLast()
            default: names.append(name)
            }
        }
        return names.joined(separator: "/")
    }

    /// Returns the start of `;type=i` (RFC 1738 §3.2.2), which says how the file is sent, not which file it is.
    private static func typeCode(in path: Substring) -> Substring.Index? {
        guard let start = path.lastIndex(of: ";") else { return nil }
        let code = path[start...].lowercased()
        return [";type=a", ";type=i", ";type=d"].contains(code) ? start : nil
    }

    /// Returns a text in which each byte has its only form. An encoded slash stays encoded, since it does not separate
    /// names.
    private static func respelt(_ text: Substring, separators: [UInt8]) -> String {
        var result = ""
        var rest = Array(text.utf8)[...]
        while let first = rest.popFirst() {
            if separators.contains(first) {
                result.append(Character(UnicodeScalar(first)))
                continue
            }
            var byte = first
            if first == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                byte = value
                rest = rest.dropFirst(2)
            }
            result += PercentEncoding.encode(bytes: [byte])
        }
        return result
    }

    private struct Parts {
        var scheme: String
        var authority: String
        var path: Substring
        var query: Substring?
        private let isSame: Bool

        init?(_ url: String) {
            guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
            let scheme = url[..<colon].lowercased()
            let rest = url[colon...].dropFirst(3)
            let whole = rest.prefix { $0 != "#" }
            let end = whole.firstIndex { $0 == "/" || $0 == "?" } ?? whole.endIndex
            let question = whole[end...].firstIndex(of: "?") ?? whole.endIndex
            let written = whole[..<end]
            let authority = Self.authority(written, scheme)
            self.scheme = scheme
            self.authority = authority
            path = whole[end..<question]
            query = question < whole.endIndex ? whole[whole.index(after: question)...] : nil
            isSame = whole.endIndex == rest.endIndex && authority == written && scheme == url[..<colon]
        }

        var isObject: Bool { scheme == "s3" }
        var isFTP: Bool { scheme == "ftp" || scheme == "ftps" }

        /// Whether the URL already has its only form, as nearly every URL has.
        var isPlain: Bool {
            guard isSame, query == nil, path.utf8.first == UInt8(ascii: "/") else { return false }
            var isStart = false
            for byte in path.utf8.dropFirst() {
                switch byte {
                case UInt8(ascii: "/"), UInt8(ascii: "."):
                    // The name is empty, or begins with a dot.
                    if isStart { return false }
                    isStart = byte == UInt8(ascii: "/")
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x7E: isStart = false
                default: return false
                }
            }
            return !isStart
        }

        /// Returns the authority's only form. A bucket's name is not a host's, and its case matters.
        private static func authority(_ text: Substring, _ scheme: String) -> String {
            guard scheme != "s3" else { return String(text) }
            let ports = ["http": ":80", "https": ":443", "ftp": ":21", "ftps": ":990", "sftp": ":22"]
            var host = text.lowercased()
            if host.hasSuffix(":") { host.removeLast() }
            if let port = ports[scheme], host.hasSuffix(port) { host.removeLast(port.utf8.count) }
            return host
        }
    }
}
