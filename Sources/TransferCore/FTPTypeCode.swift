/// The type at the end of an `ftp` URL, which is no part of the file's name: `ftp://host/file;type=i` (RFC 1738
/// §3.2.2).
///
/// A name that itself ends in this way is written with `%3B`.
public enum FTPTypeCode: Sendable, Hashable {
    /// Unchanged bytes.
    case image
    /// Text. It is fetched as bytes too, since lines rewritten by a server have no offsets for continuing.
    case text
    /// The names in a folder.
    case listing

    /// Separates the type from a URL.
    ///
    /// - Returns: The URL without its type; `nil` for a URL without one, or with another scheme.
    public static func split(_ url: String) -> (url: String, type: FTPTypeCode)? {
        guard url.utf8.first == UInt8(ascii: "f") || url.utf8.first == UInt8(ascii: "F") else { return nil }
        let whole = url.prefix { $0 != "#" }
        guard whole.utf8.count > mark.count, let type = letters[whole.utf8.last ?? 0] else { return nil }
        let bytes = whole.utf8.dropLast()
        guard zip(bytes.suffix(mark.count), mark).allSatisfy({ $0 | 0x20 == $1 | 0x20 }),
            bytes.suffix(mark.count).first == mark.first, let scheme = url.utf8.firstIndex(of: UInt8(ascii: ":")),
            ["ftp", "ftps"].contains(url[..<scheme].lowercased())
        else { return nil }
        let end = whole.utf8.index(whole.utf8.endIndex, offsetBy: -mark.count - 1)
        return (String(url[..<end] + url[whole.endIndex...]), type)
    }

    private static let mark = Array(";type=".utf8)
    private static let letters: [UInt8: FTPTypeCode] = [
        UInt8(ascii: "a"): .text, UInt8(ascii: "A"): .text, UInt8(ascii: "i"): .image, UInt8(ascii: "I"): .image,
        UInt8(ascii: "d"): .listing, UInt8(ascii: "D"): .listing,
    ]
}
