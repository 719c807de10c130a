/// The characters that may be written: all of Unicode, or ASCII for a locale or a terminal without more.
///
/// Names come from servers and job files. `visible` prevents them from moving the cursor, changing the window's title
/// or reversing the direction of the line. All foreign text passes through it before it is shown.
enum Charset: Sendable, Hashable {
    case utf8, ascii

    var ellipsis: String { self == .utf8 ? "…" : "..." }

    /// Returns the text with all unprintable characters escaped: `\n`, `\x1b`, `\u{202e}`.
    func visible(_ text: String) -> String {
        if DisplayWidth.isPlain(text) { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return result
    }

    private func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x20..<0x7F: result.unicodeScalars.append(scalar)
        case 0x09: result += "\\t"
        case 0x0A: result += "\\n"
        case 0x0D: result += "\\r"
        case 0..<0x100 where scalar.value < 0xA0:
            result += "\\x" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
        default:
            if !Self.isPrintable(scalar) {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else if self == .utf8 {
                result.unicodeScalars.append(scalar)
            } else if DisplayWidth.of(scalar) > 0 {
                result += Self.inASCII[scalar] ?? "?"
            }
        }
    }

    /// Returns whether a character is printable.
    ///
    /// The two joiners count, as they are needed to spell Persian and emoji, and change nothing around them.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200C || scalar.value == 0x200D { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }

    private static let inASCII: [Unicode.Scalar: String] = [
        "…": "...", "→": "->", "—": "-", "–": "-", "’": "'", "‘": "'", "“": "\"", "”": "\"", "\u{A0}": " ",
    ]
}

extension Charset {
    /// Shortens a name to at most `width` columns. The end distinguishes names, so the beginning is removed.
    func name(_ text: String, width: Int) -> String {
        let text = visible(text)
        guard DisplayWidth.of(text) > width else { return text }
        let room = width - ellipsis.count
        guard room > 0 else { return String(repeating: ".", count: max(0, width)) }
        let scalars = text.unicodeScalars
        var start = scalars.endIndex
        // The text from `start` is at most `room` wide; the marks of a removed character are removed with it.
        var best = start
        var used = 0
        while start > scalars.startIndex {
            let before = scalars.index(before: start)
            let columns = DisplayWidth.of(scalars[before])
            guard used + columns <= room else { break }
            used += columns
            start = before
            if columns > 0 { best = start }
        }
        var tail = text[best...]
        // A cut at a folder reads better, if it costs little.
        if let slash = tail.firstIndex(of: "/"), DisplayWidth.of(tail[..<slash]) * 4 <= room,
            tail.index(after: slash) < tail.endIndex
        {
            tail = tail[slash...]
        }
        return ellipsis + tail
    }

    /// Shortens a sentence to at most `width` columns by removing its end.
    func sentence(_ text: String, width: Int) -> String {
        let text = visible(text)
        guard DisplayWidth.of(text) > width else { return text }
        return text.prefix(columns: width - ellipsis.count) + ellipsis.prefix(max(0, width))
    }
}

extension String {
    /// Returns as many whole characters from the beginning as fit into the columns.
    func prefix(columns: Int) -> String {
        var used = 0
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            used += DisplayWidth.of(self[end..<next])
            guard used <= columns else { break }
            end = next
        }
        return String(self[..<end])
    }

    /// Returns the text padded with spaces to `width` columns.
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - DisplayWidth.of(self)))
    }

    /// Returns the text padded on the left, for numbers.
    func rightAligned(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - DisplayWidth.of(self))) + self
    }

    /// The text without the spaces that pad a last column.
    var withoutTrailingSpaces: String {
        var result = Substring(self)
        while result.last == " " { result.removeLast() }
        return String(result)
    }
}
