import Foundation
import TransferCore
import TransferCrypto

/// The keys under which responses are stored (RFC 9111 §2): the whole URL, with scheme, host and port normalized.
enum CacheKey {
    /// - Returns: The URL without userinfo and fragment; `nil` for schemes other than `http` and `https`.
    static func of(_ url: String) -> String? {
        guard let origin = Origin(url: url) else { return nil }
        return "\(origin)\(rest(of: url))"
    }

    /// Returns the path and the query.
    private static func rest(of url: String) -> String {
        var slashes = 0
        let start = url.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        guard let start else { return "/" }
        let rest = url[start...].prefix { $0 != "#" }
        // RFC 9110 §4.2.3: an empty path is equivalent to "/".
        return rest.utf8.first == UInt8(ascii: "/") ? String(rest) : "/" + rest
    }

    /// Returns the URL that a field of a response names, if it has the same origin (RFC 9111 §4.4).
    static func sameOrigin(_ reference: String, as base: String) -> String? {
        guard let url = URL(string: reference, relativeTo: URL(string: base))?.absoluteString,
            let origin = Origin(url: url), origin == Origin(url: base)
        else { return nil }
        return of(url)
    }

    /// Returns the SHA-256 digest that replaces a secret or a long text in the store, as 64 lower-case hexadecimal
    /// digits.
    static func digest(_ text: String) -> String? {
        guard let digest = try? Digest(.sha256) else { return nil }
        Array(text.utf8).withUnsafeBytes { digest.update($0) }
        return try? digest.finish().hex
    }
}
