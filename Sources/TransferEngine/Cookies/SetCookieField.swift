import TransferCore

/// The content of one Set-Cookie field (RFC 6265 §5.2, RFC 6265bis §5.6), not yet judged.
package struct SetCookieField: Equatable {
    package var name: String
    package var value: String
    /// The expiry, in seconds since 1970.
    package var expires: Int64?
    /// The lifetime in seconds from now; 0 or less is the past.
    package var maxAge: Int64?
    /// The domain in lower case, without the leading dot; empty where the attribute has no value.
    package var domain: String?
    /// The path as it was sent.
    package var path: String?
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite: SameSite?

    /// Parses the value of a field.
    ///
    /// - Returns: `nil` for a field that sets no cookie: control characters, no name, more than 4096 bytes.
    package init?(_ field: String) {
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        let parts = Substring(field).utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = parts.first, let pair = Self.pair(first), !pair.name.isEmpty,
            pair.name.utf8.count + (pair.value?.utf8.count ?? 0) <= Self.sizeLimit, let value = pair.value
        else { return nil }
        name = pair.name
        self.value = value
        for part in parts.dropFirst() {
            guard let attribute = Self.pair(part), (attribute.value?.utf8.count ?? 0) <= Self.attributeLimit else {
                continue
            }
            take(attribute.name.lowercased(), attribute.value ?? "")
        }
    }

    /// Takes an attribute. The last readable attribute of a name counts.
    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maxAge = Self.maxAge(value) ?? maxAge
        case "domain": domain = String(value.hasPrefix(".") ? value.dropFirst() : value[...]).lowercased()
        case "path": path = value
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = SameSite(rawValue: value.lowercased())
        default: break
        }
    }

    private static func maxAge(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if isNegative { return -1 }
        // A larger number than fits exceeds the lifetime of a cookie anyway.
        return Int64(digits) ?? .max
    }

    private static func pair(_ bytes: Substring.UTF8View) -> (name: String, value: String?)? {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(bytes), nil) }
        return (trimmed(bytes[..<equals]), trimmed(bytes[bytes.index(after: equals)...]))
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(Substring(bytes[first...last]))
    }

    /// The limit of name and value together, in bytes (RFC 6265bis §5.6).
    private static let sizeLimit = 4096
    private static let attributeLimit = 1024
}

/// The requests of pages for which a cookie is meant (RFC 6265bis §5.6.7).
///
/// A program has no pages: the attribute is stored, not enforced.
package enum SameSite: String, Sendable, Codable {
    case strict, lax, none
}
