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
            // What it's for stands behind the names and the value's, also where those leave one space only.
            let words = line.split { ", /".contains($0) }
            let names = words.prefix { $0.hasPrefix("-") }
            let takesValue = words.dropFirst(names.count).first?.hasPrefix("<") ?? false
            for name in names { self.takesValue[String(name)] = takesValue }
        }
    }

    func has(_ name: String) -> Bool { takesValue[name] != nil }
}
