import TransferCore

/// The place that a Location field names (RFC 9110 §10.2.2, RFC 3986 §5).
package enum RedirectTarget {
    /// Returns the absolute URL of a redirect, with its own fragment if it has one.
    ///
    /// Userinfo in the URL is not used: a server must not choose the identity of its client.
    ///
    /// - Returns: `nil` for a text that cannot be a URL. A URL with an impossible host is returned unchanged, so that
    ///   it is refused by its content.
    package static func resolve(_ location: String, against base: String) -> String? {
        guard let escaped = try? URLSpelling.canonical(location) else { return location }
        let hash = escaped.firstIndex(of: "#") ?? escaped.endIndex
        // A fragment alone keeps the rest of the URL (RFC 3986 §5.2.2); libcurl would remove the file's name.
        let target =
            hash == escaped.startIndex && hash < escaped.endIndex
            ? base : CurlURL.resolve(String(escaped[..<hash]), against: base)
        return target.map { $0 + escaped[hash...] }
    }
}
