import ArgumentParser

/// The options that a command has, as its own help tells them: there is no second list that could differ.
struct KnownOptions: Sendable {
    /// By name, as it's typed: whether a value follows.
    private(set) var takesValue: [String: Bool] = [:]

    init(of command: any ParsableCommand.Type) {
        self.init(help: Transfer.helpMessage(for: command, includeHidden: true, columns: 400))
    }

    /// - Parameter help: Lines such as `  -d, --directory <dir>   What it's for.`
    init(help: String) {
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            // What it's for stands apart by two spaces.
            let text = line.drop { $0 == " " }
            let head = text.firstRange(of: "  ").map { text[..<$0.lowerBound] } ?? text
            let hasValue = head.contains("<")
            for word in head.split(whereSeparator: { ", ".contains($0) || $0 == "/" }) where word.hasPrefix("-") {
                takesValue[String(word)] = hasValue
            }
        }
    }

    func has(_ name: String) -> Bool { takesValue[name] != nil }
}
