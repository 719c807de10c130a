import TransferCore

/// The place that a Location field names (RFC 9110 §10.2.2, RFC 3986 §5).
enum RedirectTarget {
    /// The absolute URL, with its fragment where it has one of its own. Userinfo in it isn't used: a server has no
    /// business with whom its client poses as.
    ///
    /// - Returns: `nil` for what can't be a URL.
    static func resolve(_ location: String, against base: String) -> String? {
        let escaped = escape(location)
        let hash = escaped.firstIndex(of: "#") ?? escaped.endIndex
        // A fragment alone leaves all the rest as it is (RFC 3986 §5.2.2); libcurl would leave out the file's name.
        let target =
            hash == escaped.startIndex && hash < escaped.endIndex
            ? base : CurlURL.resolve(String(escaped[..<hash]), against: base)
        return target.map { $0 + escaped[hash...] }
    }

    /// Blanks, quotes, angle brackets and what isn't ASCII may not stand in a URL, but do in Location fields. The host is
    /// left alone: its letters have a coding of their own (RFC 5890).
    private static func escape(_ location: String) -> String {
        let bytes = Array(location.utf8)
        guard bytes.contains(where: mustBeEscaped) else { return location }
        let start = hostEnd(bytes)
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        let rest = bytes[start...].flatMap { byte in
            mustBeEscaped(byte)
                ? [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]] : [byte]
        }
        return String(decoding: bytes[..<start] + rest, as: UTF8.self)
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7F || "\"<>".utf8.contains(byte)
    }

    /// Where the path begins, of `https://host/…` and `//host/…`; 0 without a host.
    private static func hostEnd(_ bytes: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        guard let first = bytes.firstIndex(of: slash), first + 1 < bytes.count, bytes[first + 1] == slash,
            first == 0 || bytes[first - 1] == UInt8(ascii: ":"),
            !bytes[..<first].contains(UInt8(ascii: "?")), !bytes[..<first].contains(UInt8(ascii: "#"))
        else { return 0 }
        let ends = Array("/?#".utf8)
        return bytes[(first + 2)...].firstIndex { ends.contains($0) } ?? bytes.count
    }
}
