import TransferCore

/// Functions that phrase messages and quote a file's text in them.
package enum Wording {
    /// Returns the text in quotes, with at most 60 of its characters, and with every character replaced that could
    /// confuse a terminal.
    package static func quoted(_ text: some StringProtocol) -> String {
        var result = "\""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            guard count < 60 else {
                result += "…"
                break
            }
            result.unicodeScalars.append(printable(scalar))
        }
        return result + "\""
    }

    /// Returns the text with every character replaced that could confuse a terminal.
    package static func printable(_ text: String) -> String {
        var result = ""
        result.unicodeScalars.append(contentsOf: text.unicodeScalars.map(printable))
        return result
    }

    private static func printable(_ scalar: UnicodeScalar) -> UnicodeScalar {
        DisplayWidth.isPrintable(scalar) ? scalar : "\u{FFFD}"
    }

    /// Returns a count with its noun: `"1 error"`, `"2 errors"`.
    package static func count(_ count: Int, _ noun: String) -> String { CountText.words(count, noun) }

    /// Returns a list such as `a, b and c`.
    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }

    /// Returns a list such as `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
