/// The references to characters in XML (XML 1.0, sections 4.1 and 4.6).
package enum XMLReference {
    /// Returns the character of a reference.
    ///
    /// - Parameter name: The text between `&` and `;`.
    /// - Returns: `nil` where the name is neither one of XML's five nor a character's number. Control characters, which
    ///   XML 1.0 excludes, are accepted here.
    package static func character(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.first != "+", digits.first != "-" else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap { Unicode.Scalar($0) }
    }
}
