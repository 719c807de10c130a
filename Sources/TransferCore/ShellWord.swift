/// The quotation of words for a shell, for commands that people copy.
public enum ShellWord {
    /// Returns a word for a shell.
    ///
    /// - Parameter isUTF8: Whether letters beyond ASCII can be displayed; otherwise they are written as bytes.
    /// - Returns: The word itself where no shell interprets it, and otherwise the word in quotes. Characters that
    ///   cannot be displayed are written in the form `$'\\n'`, which bash, zsh and ksh read.
    public static func quoted(_ word: String, isUTF8: Bool = true) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        guard word.unicodeScalars.allSatisfy({ isShown($0, isUTF8) }) else { return written(word, isUTF8) }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_./:@%+,=".utf8.contains(byte)
        }
    }

    private static func isShown(_ scalar: Unicode.Scalar, _ isUTF8: Bool) -> Bool {
        guard scalar.value >= 0x80 else { return scalar.value >= 0x20 && scalar.value != 0x7F }
        guard isUTF8 else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: return false
        default: return true
        }
    }

    private static func written(_ word: String, _ isUTF8: Bool) -> String {
        var text = "$'"
        for scalar in word.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                text += "\\" + String(scalar)
            } else if isShown(scalar, isUTF8) {
                text.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 {
                    let octal = String(byte, radix: 8)
                    text += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
                }
            }
        }
        return text + "'"
    }
}
