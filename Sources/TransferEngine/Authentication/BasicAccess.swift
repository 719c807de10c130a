/// Answers to challenges of the scheme Basic (RFC 7617), in UTF-8.
enum BasicAccess {
    /// Returns the value of the Authorization field.
    ///
    /// - Returns: `nil` for credentials that the scheme cannot carry: a colon in the name, control characters.
    static func authorization(user: String, password: String) -> String? {
        guard !user.utf8.contains(UInt8(ascii: ":")), !hasControls(user), !hasControls(password) else { return nil }
        return "Basic " + base64(Array("\(user):\(password)".utf8))
    }

    private static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    /// Encodes bytes in base64 (RFC 4648 §4).
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
