import TransferCore
import TransferQueue

/// A URL as clients of aria2 write it: with a login, and with characters that belong in percent-encoding.
struct AriaURL: Hashable {
    struct Login: Hashable {
        var user: String
        var password: String
    }

    /// The URL without its login.
    let url: String
    let login: Login?

    /// Reads a URL.
    ///
    /// - Returns: `nil` for a text that no transfer can have as its source.
    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let start = text.index(colon, offsetBy: 3)
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let authority = text[start..<end]
        var host = authority
        if let at = authority.lastIndex(of: "@") {
            let words = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            login = Login(user: Self.decoded(words[0]), password: words.count > 1 ? Self.decoded(words[1]) : "")
            host = authority[authority.index(after: at)...]
        } else {
            login = nil
        }
        url = text[..<start] + host + Self.encoded(text[end...])
        guard JobSpec.isSupported(url: url), !url.utf8.contains(where: { $0 <= 0x20 }) else { return nil }
    }

    /// Returns a text in which blanks, control characters and delimiters of texts are percent-encoded, as by aria2.
    private static func encoded(_ text: Substring) -> String {
        guard text.utf8.contains(where: mustBeEncoded) else { return String(text) }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            guard mustBeEncoded(byte) else {
                bytes.append(byte)
                continue
            }
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func mustBeEncoded(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
            || byte == UInt8(ascii: ">")
    }

    /// Returns a text without its percent-encoding; the text itself where the result is not UTF-8.
    private static func decoded(_ text: Substring) -> String {
        String(validating: PercentEncoding.decode(text), as: UTF8.self) ?? String(text)
    }
}
