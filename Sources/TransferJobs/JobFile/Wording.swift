import TransferCore

/// How messages quote what a file says.
package enum Wording {
    /// The text in quotes, at most 60 characters of it, with everything replaced that could confuse a terminal.
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

    /// The text, with everything replaced that could confuse a terminal.
    package static func printable(_ text: String) -> String {
        var result = ""
        result.unicodeScalars.append(contentsOf: text.unicodeScalars.map(printable))
        return result
    }

    private static func printable(_ scalar: UnicodeScalar) -> UnicodeScalar {
        DisplayWidth.isPrintable(scalar) ? scalar : "\u{FFFD}"
    }

    /// `"1 error"`, `"2 errors"`.
    package static func count(_ count: Int, _ noun: String) -> String { CountText.words(count, noun) }

    /// `a, b and c`.
    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }

    /// `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
