/// A line of text whose parts may have a colour.
struct StyledLine: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The colours, which are few, and never the only carrier of a meaning.
    enum Style: String, Sendable, Hashable {
        case plain = ""
        case good = "32"
        case warning = "33"
        case bad = "31"
        case dim = "2"
    }

    struct Part: Sendable, Hashable {
        var text: String
        var style: Style
    }

    private(set) var parts: [Part] = []

    init() {}
    init(stringLiteral text: String) { append(text) }
    init(_ text: String, _ style: Style = .plain) { append(text, style) }

    mutating func append(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { parts.append(Part(text: text, style: style)) }
    }

    var text: String { parts.reduce("") { $0 + $1.text } }
    var width: Int { parts.reduce(0) { $0 + DisplayWidth.of($1.text) } }

    /// Returns the line for a terminal (ECMA-48 "select graphic rendition"); each coloured part resets its colour.
    func rendered(colors: Bool) -> String {
        guard colors else { return text }
        return parts.reduce("") { line, part in
            line + (part.style == .plain ? part.text : "\u{1B}[\(part.style.rawValue)m\(part.text)\u{1B}[0m")
        }
    }

    /// Returns the line in at most `width` columns.
    func cut(to width: Int, charset: Charset) -> StyledLine {
        guard self.width > width else { return self }
        var result = StyledLine()
        var left = max(0, width - charset.ellipsis.count)
        for part in parts {
            let text = part.text.prefix(columns: left)
            result.append(text, part.style)
            guard text == part.text else { break }
            left -= DisplayWidth.of(text)
        }
        result.append(String(charset.ellipsis.prefix(max(0, width))))
        return result
    }
}
