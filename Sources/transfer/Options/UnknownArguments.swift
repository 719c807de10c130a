import ArgumentParser
import TransferCore

/// Command lines that the parser doesn't take.
enum UnknownArguments {
    /// - Returns: The arguments without options that ask for what is done anyway.
    /// - Throws: `Failure` that answers a command or options that aren't there.
    static func answered(
        _ arguments: [String], commands: [any ParsableCommand.Type]
    ) throws(Failure) -> [String] {
        guard let name = arguments.first, !name.hasPrefix("-") else { return arguments }
        guard let command = commands.first(where: { $0._commandName == name }) else {
            throw Failure(.wrongUsage, noCommand(name, commands.map { $0._commandName }))
        }
        return [name]
            + (try OptionCheck(command: name, known: KnownOptions(of: command)).pass(Array(arguments.dropFirst())))
    }

    private static func noCommand(_ name: String, _ known: [String]) -> String {
        if name.contains("://") {
            return "\(name) is no command; `transfer get URL` downloads it"
        }
        let others = [
            "download": "get", "upload": "put", "fetch": "get", "ls": "status", "list": "status",
        ]
        let nearest = others[name] ?? NearestKey.suggestion(for: name, among: known + ["help"])
        let guess = nearest.map { "did you mean `transfer \($0)`?" } ?? "`transfer --help` lists what there is"
        return "\(name) is no command; \(guess)"
    }
}
