import TransferCore

/// The place that a Location field names (RFC 9110 §10.2.2, RFC 3986 §5).
enum RedirectTarget {
    /// The absolute URL, with its fragment where it has one of its own. Userinfo in it isn't used: a server has no
    /// business with whom its client poses as.
    ///
    /// - Returns: `nil` for what can't be a URL; a URL whose host can't be a name is given back as it is, so that it is
    ///   refused by what it says.
    static func resolve(_ location: String, against base: String) -> String? {
        guard let escaped = try? URLSpelling.canonical(location) else { return location }
        let hash = escaped.firstIndex(of: "#") ?? escaped.endIndex
        // A fragment alone leaves all the rest as it is (RFC 3986 §5.2.2); libcurl would leave out the file's name.
        let target =
            hash == escaped.startIndex && hash < escaped.endIndex
            ? base : CurlURL.resolve(String(escaped[..<hash]), against: base)
        return target.map { $0 + escaped[hash...] }
    }
}
