import TransferCore
import TransferQueue

/// A word that a front cannot take.
struct FrontFault: Hashable {
    /// The option or operand as it was typed.
    var shown: String
    var reason: String
    /// The words without which the rest of the line can be taken; `nil` where the rest would mean something else.
    var words: Range<Int>?
    /// The command to write instead.
    var line: [String]?

    /// The word with its reason.
    func text(of tool: FrontTool) -> String {
        "\(tool.rawValue)\(shown.isEmpty ? "" : " " + Wording.printable(shown)): \(reason)"
    }
}

/// The words of a command line that cannot be taken, all at once.
struct FrontRefusal: Error {
    let tool: FrontTool
    let words: [String]
    let faults: [FrontFault]

    /// The answer: each word with its reason, and the line to paste where there is one.
    var failure: Failure {
        var lines: [String] = []
        for fault in faults {
            let line = fault.text(of: tool)
            if !lines.contains(line) { lines.append(line) }
        }
        if let line = pasted { lines.append("Here:    " + line.map { ShellWord.quoted($0) }.joined(separator: " ")) }
        return Failure(.wrongUsage, lines.joined(separator: "\n"))
    }

    private var pasted: [String]? {
        if faults.count == 1, let line = faults[0].line { return Self.hasSecret(line) ? nil : line }
        var left = words.map(Optional.some)
        for fault in faults {
            guard let range = fault.words else { return nil }
            for index in range { left[index] = nil }
        }
        let line = left.compactMap(\.self)
        guard !line.isEmpty, !Self.hasSecret(line) else { return nil }
        return ["transfer", tool.rawValue] + line
    }

    /// Returns whether a line may contain a secret; messages end up in logs.
    private static func hasSecret(_ words: [String]) -> Bool {
        SameCommand.command(words.map { $0 == "-" ? "./-" : $0 }, isUTF8: true) == SameCommand.words
            || words.contains { word in
                word.split(separator: " ").contains { $0.contains("@") && $0.contains(":") }
                    || ["--post-data", "--body-data", "--http-pass", "--ftp-pass", "-d"].contains(where: word.hasPrefix)
            }
    }
}
