/// The layout of help for the width of a terminal.
///
/// The parser's help is taken with lines of any length: wrapped lines would have to be joined first.
enum HelpLayout {
    /// The columns that the parser's help has before the description of an entry.
    private static let column = 26
    /// The width below which descriptions stand below the names.
    private static let narrow = 60

    /// Lays a help text out.
    ///
    /// - Parameter help: The help, whose paragraphs and descriptions are one line each.
    static func text(_ help: String, width: Int) -> String {
        let width = max(20, width)
        var lines: [String] = []
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            lines += laidOut(String(line), width)
        }
        return lines.joined(separator: "\n")
    }

    private static func laidOut(_ line: String, _ width: Int) -> [String] {
        if line.allSatisfy({ $0 == " " }) { return [""] }
        if line.hasPrefix("USAGE: ") {
            return hanging(words(of: line), width: width, indent: 7)
        }
        let spaces = line.prefix { $0 == " " }.count
        if spaces >= column { return described(line.trimmingSpaces, width) }
        guard spaces == 2 else { return TextWrap.pieces(plainWords(line), width: width, indent: min(spaces, 2)) }
        let (names, description) = split(line)
        guard let description else {
            let isSentence = !names.hasPrefix("-") && !names.hasPrefix("<") && names.contains(" ")
            return isSentence
                ? TextWrap.pieces(plainWords(names), width: width, indent: 2)
                : TextWrap.pieces([names], width: width, indent: 2)
        }
        let below = described(description, width)
        // The names stand beside the description where both have room.
        guard width >= narrow, DisplayWidth.of(names) + 3 <= column, let first = below.first else {
            return TextWrap.pieces([names], width: width, indent: 2) + below
        }
        return ["  " + names.padded(column - 2) + first.dropFirst(column)] + below.dropFirst()
    }

    /// Splits an entry into its names and its description, which is missing where it is in the next line.
    private static func split(_ line: String) -> (names: String, description: String?) {
        let entry = line.dropFirst(2)
        guard entry.count > column - 2 else { return (String(entry).trimmingSpaces, nil) }
        let names = entry.prefix(column - 2)
        let rest = entry.dropFirst(column - 2)
        // A longer entry has its description in the next line, and another name at this column.
        guard names.last == " ", !rest.hasPrefix("<"), !rest.hasPrefix("--") else {
            return (String(entry).trimmingSpaces, nil)
        }
        return (String(names).trimmingSpaces, String(rest).trimmingSpaces)
    }

    private static func described(_ text: String, _ width: Int) -> [String] {
        TextWrap.pieces(plainWords(text), width: width, indent: width >= narrow ? column : 6)
    }

    private static func plainWords(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// Returns the words of a usage line; brackets keep an option and its value together.
    private static func words(of usage: String) -> [String] {
        var words: [String] = []
        var word = ""
        var depth = 0
        for character in usage {
            switch character {
            case "[", "<": depth += 1
            case "]", ">": depth -= 1
            case " " where depth <= 0:
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            default: break
            }
            word.append(character)
        }
        return word.isEmpty ? words : words + [word]
    }

    /// Wraps words; the lines behind the first one are indented.
    private static func hanging(_ words: [String], width: Int, indent: Int) -> [String] {
        guard let label = words.first else { return [] }
        var lines = TextWrap.pieces(Array(words.dropFirst()), width: width, indent: indent)
        if let first = lines.first { lines[0] = label.padded(indent) + first.dropFirst(indent) }
        return lines.isEmpty ? [label] : lines
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        let text = drop { $0 == " " }
        return String(text).withoutTrailingSpaces
    }
}
