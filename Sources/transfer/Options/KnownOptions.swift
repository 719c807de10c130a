import ArgumentParser

/// The options of a command, from its own help: no second list can differ.
struct KnownOptions: Sendable {
    /// Whether a value follows, by the option's name as it is typed.
    private(set) var takesValue: [String: Bool] = [:]

    init(of command: any ParsableCommand.Type) {
        self.init(help: Transfer.helpMessage(for: command, includeHidden: true, columns: 400))
    }

    /// Parses a help text.
    ///
    /// - Parameter help: Lines such as ` -d, --directory <dir> What it's for.`
    init(help: String) {
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            // The description follows the names and the value's name, sometimes after one space only.
            let words = line.split { ", /".contains($0) }
            let names = words.prefix { $0.hasPrefix("-") }
            let takesValue = words.dropFirst(names.count).first?.hasPrefix("<") ?? false
            for name in names { self.takesValue[String(name)] = takesValue }
        }
    }

    func has(_ name: String) -> Bool { takesValue[name] != nil }
}
