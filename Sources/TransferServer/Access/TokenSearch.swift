/// The search for the secret of a call of aria2's interface in the first bytes of its body, before the rest is read.
enum TokenSearch {
    private static let mark = Array("token:".utf8)

    /// Returns the text of the first token that begins a string of JSON or XML.
    ///
    /// Only one token is found, so that one request cannot contain many guesses.
    ///
    /// - Returns: `nil` where there is none, or where it does not end within the bytes.
    static func secret(in bytes: [UInt8]) -> String? {
        guard bytes.count > mark.count else { return nil }
        for start in 1...(bytes.count - mark.count) where isOpening(bytes[start - 1]) {
            guard bytes[start..<start + mark.count].elementsEqual(mark) else { continue }
            let rest = bytes[(start + mark.count)...]
            guard let end = rest.firstIndex(where: isClosing) else { return nil }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        return nil
    }

    private static func isOpening(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ">") }

    private static func isClosing(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") }
}
