/// A line of a file in the form of ssh_config(5): a keyword and its arguments.
struct SSHConfigurationLine: Sendable, Hashable {
    /// The keyword in lower case.
    let keyword: String
    private let rest: ArraySlice<UInt8>

    /// Parses a line.
    ///
    /// - Returns: `nil` for an empty line and for a comment.
    init?(_ line: ArraySlice<UInt8>) {
        let content = line.drop(while: Self.isSpace)
        guard let first = content.first, first != UInt8(ascii: "#") else { return nil }
        let end = content.firstIndex { Self.isSpace($0) || $0 == UInt8(ascii: "=") } ?? content.endIndex
        keyword = String(decoding: content[..<end], as: UTF8.self).lowercased()
        var rest = content[end...].drop(while: Self.isSpace)
        if rest.first == UInt8(ascii: "=") { rest = rest.dropFirst().drop(while: Self.isSpace) }
        self.rest = rest
    }

    /// The whole text after the keyword, for keywords that know neither quotes nor comments.
    var text: String {
        let end = rest.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? rest.startIndex
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// The arguments without their quotes; `nil` where a quote is not closed. A word that begins with `#` begins a
    /// comment.
    ///
    /// ssh 9.2 reads a backslash before a quote or a backslash as that character, and outside of quotes before a space
    /// too.
    var arguments: [String]? {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var quote: UInt8?
        var index = rest.startIndex
        func add(_ byte: UInt8) {
            if word == nil { word = [] }
            word?.append(byte)
        }
        while index < rest.endIndex {
            let byte = rest[index]
            index += 1
            if byte == UInt8(ascii: "\\"), index < rest.endIndex, Self.isEscaped(rest[index], isQuoted: quote != nil) {
                add(rest[index])
                index += 1
            } else if let open = quote {
                if byte == open { quote = nil } else { add(byte) }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                if word == nil { word = [] }
            } else if Self.isSpace(byte) {
                if let word { words.append(word) }
                word = nil
            } else if byte == UInt8(ascii: "#"), word == nil {
                break
            } else {
                add(byte)
            }
        }
        guard quote == nil else { return nil }
        if let word { words.append(word) }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isEscaped(_ byte: UInt8, isQuoted: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        case UInt8(ascii: " "): !isQuoted
        default: false
        }
    }

    /// Lines may end as on Windows.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") || byte == 0x0C
    }
}
