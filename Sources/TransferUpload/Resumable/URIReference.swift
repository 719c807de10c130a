/// A URI reference in its five parts (RFC 3986 §3), and what it means where it stands (§5.2).
struct URIReference: Sendable, Hashable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// As the expression of appendix B takes it apart; anything is some reference.
    init(_ text: some StringProtocol) {
        var rest = Substring(text)
        if let mark = rest.firstIndex(where: { ":/?#".contains($0) }), rest[mark] == ":", mark != rest.startIndex,
            Self.isScheme(rest[..<mark])
        {
            scheme = String(rest[..<mark])
            rest = rest[rest.index(after: mark)...]
        }
        if let mark = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    /// §5.3
    var text: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// §5.2.2, for a base that is absolute.
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.removingDots(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.removingDots(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.hasPrefix("/") {
            target.path = Self.removingDots(path)
        } else {
            target.path = Self.removingDots(base.directory + path)
        }
        return target
    }

    /// What a Location field leads to: an absolute http or https URL without fragment and user information (which
    /// would be a secret, in a place where none is kept; RFC 9110 §4.2.4).
    ///
    /// - Returns: `nil` for another scheme, no host, or characters that no URL has.
    static func location(_ reference: String, from base: String) -> String? {
        var escaped = ""
        for byte in reference.utf8 {
            switch byte {
            case 0x21...0x7E: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x80...: escaped += "%" + String(byte, radix: 16, uppercase: true)
            default: return nil
            }
        }
        guard !escaped.isEmpty else { return nil }
        var target = URIReference(escaped).resolved(against: URIReference(base))
        guard let scheme = target.scheme?.lowercased(), scheme == "http" || scheme == "https" else { return nil }
        target.scheme = scheme
        target.fragment = nil
        target.removeUserInformation()
        guard let authority = target.authority, let first = authority.first, first != ":" else { return nil }
        if target.path.isEmpty { target.path = "/" }
        return target.text
    }

    mutating func removeUserInformation() {
        guard let whole = authority, let at = whole.lastIndex(of: "@") else { return }
        authority = String(whole[whole.index(after: at)...])
    }

    /// §5.2.3: the base's path up to its last slash.
    private var directory: Substring {
        if authority != nil && path.isEmpty { return "/" }
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return path[...slash]
    }

    /// §5.2.4
    private static func removingDots(_ path: String) -> String {
        var input = path[...]
        var output = ""
        while !input.isEmpty {
            if input.hasPrefix("../") {
                input = input.dropFirst(3)
            } else if input.hasPrefix("./") {
                input = input.dropFirst(2)
            } else if input.hasPrefix("/./") || input == "/." {
                input = "/" + input.dropFirst(3)
            } else if input.hasPrefix("/../") || input == "/.." {
                input = "/" + input.dropFirst(4)
                output = output.lastIndex(of: "/").map { String(output[..<$0]) } ?? ""
            } else if input == "." || input == ".." {
                input = ""
            } else {
                let end = input.dropFirst().firstIndex(of: "/") ?? input.endIndex
                output += input[..<end]
                input = input[end...]
            }
        }
        return output
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first | 0x20) else { return false }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
        }
    }
}
