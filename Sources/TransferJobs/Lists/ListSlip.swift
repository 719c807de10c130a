/// The check for lines of notes, chats or mails in place of a URL; it describes the text beside the URL.
///
/// The characters beside the URL are valid in URLs or would be escaped, so that the whole line would be requested.
package enum ListSlip {
    /// Explains why a line is no URL.
    ///
    /// - Parameter line: The line without blanks at its ends.
    /// - Returns: `nil` for a line that contains only a URL, or none.
    package static func refusal(of line: some StringProtocol) -> String? {
        let places = schemes(in: line)
        guard let first = places.first else { return nil }
        let before = line[..<first]
        let rest = line[first...]
        if before.hasSuffix("](") { return "a Markdown link; write its URL alone" }
        if before.hasSuffix("<") || rest.hasSuffix(">") { return "a URL stands alone, without < and > around it" }
        if let quote = before.last, "\"'`“”„‘’«".contains(quote) {
            return "a URL stands alone, without quotes around it"
        }
        if !before.isEmpty {
            let words = String(before).filter { $0 != " " && $0 != "\t" }
            let isBullet = words.allSatisfy { "-*+•·–—>‣◦.)]([xX".contains($0) || $0.isNumber }
            return isBullet
                ? "a URL stands alone in its line; take \"\(words)\" away before it"
                : "a URL stands alone in its line, and this one has words before it; # begins a line of words"
        }
        if places.count > 1, let second = places.dropFirst().first, second > line.startIndex {
            let joint = line[line.index(before: second)]
            if ",;|".contains(joint) || joint == " " {
                return "two URLs in a line; each has a line of its own, and mirrors of one file have a tab between them"
            }
        }
        if let last = rest.last, ",;".contains(last) {
            let code = last == "," ? "%2C" : "%3B"
            return "the URL ends with \"\(last)\"; take it away, or write \(code) where it belongs to the name"
        }
        if rest.hasSuffix(")"), !rest.contains("(") {
            return
                "the URL ends with a parenthesis that nothing opens; take it away, or write %29 if it belongs to the name"
        }
        guard let blank = rest.firstIndex(of: " ") else { return nil }
        let behind = rest[blank...].drop { $0 == " " }
        return behind.first == "#" || behind.first == "(" || behind.first == "-"
            ? "a URL stands alone in its line, and this one has words behind it; # begins a remark" : nil
    }

    /// Returns whether a file that begins with this line is neither JSON nor XML: `[name](https://…)`, `[ ] https://…`,
    /// `<https://…>`.
    package static func isLink(_ line: String) -> Bool {
        if line.hasPrefix("<") { return schemes(in: line).first == line.index(after: line.startIndex) }
        return line.contains("](") || ["[ ] ", "[x] ", "[X] "].contains(where: line.hasPrefix)
    }

    /// Returns the starts of the URLs in a text whose schemes can be fetched.
    private static func schemes<Text: StringProtocol>(in line: Text) -> [Text.Index] {
        var found: [Text.Index] = []
        let bytes = line.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index...].starts(with: "://".utf8) {
                let name = bytes[..<index].reversed().prefix { isLetter($0) }
                let start = bytes.index(index, offsetBy: -name.count)
                let scheme = String(decoding: name.reversed(), as: UTF8.self).lowercased()
                if ["http", "https", "ftp", "ftps", "sftp", "s3"].contains(scheme) { found.append(start) }
            }
            index = bytes.index(after: index)
        }
        return found
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
    }
}
