/// A reference to a resource, as in Location fields: absolute, or relative to its context (RFC 3986 §4.1).
public enum URLReference {
    /// Returns the absolute URL of the reference (RFC 3986 §5.2), without a fragment and without user information. A
    /// server must not choose the user as which its client logs in.
    ///
    /// The result has the canonical spelling (``URLSpelling``), where its host has one.
    ///
    /// - Returns: `nil` where `base` is no absolute URL with a host.
    /// - Returns: `nil` when `base` is no absolute URL with a host.
    public static func resolve(_ reference: String, against base: String) -> String? {
        let base = Parts(base)
        let reference = Parts(reference)
        guard let scheme = base.scheme, let authority = base.authority else { return nil }
        var target = reference
        if reference.scheme == nil {
            target.scheme = scheme
            if reference.authority == nil {
                target.authority = authority
                if reference.path.isEmpty {
                    target.path = base.path
                    target.query = reference.query ?? base.query
                } else if reference.path.utf8.first != UInt8(ascii: "/") {
                    let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/"))
                    target.path = (slash.map { base.path[...$0] } ?? "/") + reference.path
                }
            }
        }
        target.path = withoutDots(target.path)
        return URLSpelling.canonicalIfPossible(target.text)
    }

    /// Removes dot segments (RFC 3986 §5.2.4).
    private static func withoutDots(_ path: Substring) -> Substring {
        guard path.utf8.first == UInt8(ascii: "/") else { return path }
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isDot = segment.elementsEqual(".".utf8)
            let isDouble = segment.elementsEqual("..".utf8)
            if isDouble { _ = kept.popLast() }
            if !isDot && !isDouble {
                kept.append(Substring(segment))
            } else if index == segments.count - 1 {
                kept.append("")
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    private struct Parts {
        var scheme: Substring?
        /// The authority without user information.
        var authority: Substring?
        var path: Substring
        var query: Substring?

        /// Splits a reference by bytes, since a combining mark after a slash would form one character with it.
        init(_ text: String) {
            let bytes = text.utf8
            let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
            var rest = bytes[..<end]
            if let colon = rest.firstIndex(where: { ":/?".utf8.contains($0) }), bytes[colon] == UInt8(ascii: ":"),
                Self.isScheme(rest[..<colon])
            {
                scheme = Substring(rest[..<colon])
                rest = rest[bytes.index(after: colon)...]
            }
            if rest.starts(with: "//".utf8) {
                rest = rest.dropFirst(2)
                let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
                let named = rest[..<end]
                let at = named.lastIndex(of: UInt8(ascii: "@"))
                authority = Substring(at.map { named[bytes.index(after: $0)...] } ?? named)
                rest = rest[end...]
            }
            let question = rest.firstIndex(of: UInt8(ascii: "?"))
            path = Substring(rest[..<(question ?? rest.endIndex)])
            query = question.map { Substring(rest[bytes.index(after: $0)...]) }
        }

        var text: String {
            (scheme.map { "\($0):" } ?? "") + (authority.map { "//\($0)" } ?? "") + path
                + (query.map { "?\($0)" } ?? "")
        }

        /// Returns whether the bytes are a scheme (RFC 3986 §3.1).
        private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
            guard let first = bytes.first, isLetter(first) else { return false }
            return bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
        }

        private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    }
}
