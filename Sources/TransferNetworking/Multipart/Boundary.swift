/// The delimiter between the parts of a form (RFC 2046 §5.1.1).
enum Boundary {
    /// Returns a boundary with 64 random bits, which content does not contain by accident, and whose author cannot
    /// guess it.
    static func random() -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return "tkit.form.boundary.\(String(repeating: "0", count: 16 - number.count))\(number)"
    }

    static func isValid(_ boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count) && boundary.utf8.last != UInt8(ascii: " ")
            && boundary.utf8.allSatisfy { isAlphanumeric($0) || plain.contains($0) || quoted.contains($0) }
    }

    /// Returns the boundary as the value of a parameter, quoted if RFC 2045 §5.1 requires it.
    static func parameter(_ boundary: String) -> String {
        boundary.utf8.contains { quoted.contains($0) } ? "\"\(boundary)\"" : boundary
    }

    private static let plain = Array("'+_-.".utf8)
    private static let quoted = Array("(),/:=? ".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
