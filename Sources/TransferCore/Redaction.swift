/// The removal of secrets from text for people, logs and databases.
///
/// A URL loses the user, the password and each value that may grant access (``QueryValue``). Such values are in the
/// query, in parameters of the path (`;jsessionid=…`) and in the fragment. Path segments in which services are known to
/// put tokens are removed too (``PathToken``).
public enum Redaction {
    /// The text in place of a removed secret.
    public static let mark = "***"

    /// Returns the URL without its user information, and without values that may be secrets.
    ///
    /// The function accepts invalid URLs too, since error messages quote them.
    public static func url(_ text: String) -> String {
        // Nearly all URLs have no secrets, so the rewriting is avoided.
        guard mayHaveSecret(text) else { return text }
        return redacted(withoutUserinfo(text))
    }

    /// Returns whether the URL contains a secret that `url(_:)` would remove.
    public static func hasSecret(_ text: String) -> Bool { mayHaveSecret(text) && url(text) != text }

    /// Returns whether two equal redacted URLs may denote different places, because a value was removed without a
    /// digest.
    static func hidesPlace(_ redacted: String) -> Bool {
        var rest = Substring(redacted)
        while let found = rest.range(of: mark) {
            rest = rest[found.upperBound...]
            if !rest.hasPrefix(QueryValue.signMark) { return true }
        }
        return false
    }

    /// Returns whether a header's value is a secret.
    public static func isSecretHeader(_ name: some StringProtocol) -> Bool {
        let lower = name.lowercased()
        if lower == "idempotency-key" { return false }
        return secretHeaders.contains(lower) || lower.hasSuffix("-token") || lower.hasSuffix("-key")
            || lower.hasSuffix("-secret") || lower.hasSuffix("-signature")
    }

    private static let secretHeaders: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token",
        "x-amz-security-token",
    ]

    /// Returns whether the text may contain a secret. The signs are an end of user information, the start of a query,
    /// parameters or a fragment, and a word as long as a token.
    private static func mayHaveSecret(_ text: String) -> Bool {
        var length = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: ";"), UInt8(ascii: "#"): return true
            case UInt8(ascii: "/"), 0x20: length = 0
            default:
                length += 1
                if length >= PathToken.shortest { return true }
            }
        }
        return false
    }

    private static func withoutUserinfo(_ text: String) -> String {
        guard let scheme = text.range(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        var result = text
        result.replaceSubrange(scheme.upperBound...at, with: "")
        return result
    }

    /// Redacts the parts of the URL, each by its own rule. In a sentence, a URL ends at a blank.
    private static func redacted(_ text: String) -> String {
        let scheme = text.utf8.prefix { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
        let isURL = !scheme.isEmpty && text.utf8[scheme.endIndex...].starts(with: "://".utf8)
        if !isURL, let blank = text.firstIndex(of: " ") {
            let next = text.index(after: blank)
            return redacted(String(text[..<blank])) + " " + url(String(text[next...]))
        }
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let question = text[..<fragment].firstIndex(of: "?") ?? fragment
        let path = text[..<question]
        var result = path.utf8.contains(UInt8(ascii: ";")) ? withoutParameters(path) : String(path)
        result = PathToken.redacted(result)
        let place = result
        if question < fragment {
            result += "?" + pairs(text[text.index(after: question)..<fragment], at: place)
        }
        if fragment < text.endIndex {
            let content = text[text.index(after: fragment)...]
            let hasNames = content.utf8.contains(UInt8(ascii: "="))
            result += "#" + (hasNames ? pairs(content, at: place) : bare(content, at: place))
        }
        return result
    }

    /// Redacts parameters after a name of the path, such as `a=1;token=x` (RFC 3986 §3.3).
    private static func withoutParameters(_ path: Substring) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment -> String in
            guard let start = segment.firstIndex(of: ";") else { return String(segment) }
            return "\(segment[..<start]);\(pairs(segment[segment.index(after: start)...], at: ""))"
        }
        return segments.joined(separator: "/")
    }

    /// Redacts pairs of names and values.
    ///
    /// - Parameter place: The URL before them.
    private static func pairs(_ text: Substring, at place: String) -> String {
        var result = ""
        var rest = text
        while true {
            let end = rest.firstIndex { $0 == "&" || $0 == ";" } ?? rest.endIndex
            result += pair(rest[..<end], at: place)
            guard end < rest.endIndex else { return result }
            result.append(rest[end])
            rest = rest[rest.index(after: end)...]
        }
    }

    private static func pair(_ pair: Substring, at place: String) -> String {
        guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else { return bare(pair, at: place) }
        let value = pair[pair.index(after: equals)...]
        if QueryValue.isToken(pair[..<equals]) { return bare(pair, at: place) }
        return "\(pair[...equals])\(QueryValue.redacted(value, of: pair[..<equals], at: place))"
    }

    /// Redacts a value without a name.
    private static func bare(_ value: Substring, at place: String) -> String {
        QueryValue.redacted(value, of: "", at: place)
    }
}

extension StringProtocol {
    /// Returns the first range of a short text, without Foundation.
    func range(of needle: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
