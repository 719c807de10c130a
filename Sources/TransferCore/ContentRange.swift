/// The value of a Content-Range field (RFC 9110 §14.4).
public struct ContentRange: Sendable, Hashable {
    /// The enclosed bytes; `nil` in the form of a 416 response, `bytes */total`.
    public let range: Range<Int64>?
    /// The length of the whole representation; `nil` where the server sent `*`.
    public let total: Int64?

    /// Parses the value.
    ///
    /// - Returns: `nil` for another unit, a malformed value, or a range that exceeds its total.
    public init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].asciiCaseInsensitiveEquals("bytes") else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            range = nil
            return
        }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]), last >= first,
            last < Int64.max
        else { return nil }
        if let total, last >= total { return nil }
        range = first..<(last + 1)
    }

    /// Parses digits only, since `Int64` would accept a sign.
    private static func number(_ text: some StringProtocol) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
