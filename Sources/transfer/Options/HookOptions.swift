import ArgumentParser
import FoundationEssentials
import TransferCore
import TransferQueue

/// The options for the receivers of ends, and for the commands that job files name as their `onFinish`.
struct HookOptions: ParsableArguments {
    @Option(
        name: .customLong("on-finish"),
        help: ArgumentHelp(
            "A command, or a webhook's URL, to call when all jobs have ended; for watch, when each file has ended. The "
                + "message comes on standard input, as JSON. NAME=COMMAND defines what job files mean by "
                + "\"onFinish\": \"NAME\".",
            valueName: "[name=]command"), transform: HookArgument.read)
    var onFinish: [HookArgument] = []

    @Option(
        name: .customLong("on-finish-timeout"),
        help: ArgumentHelp("The longest time that such a command may take; 60s by default.", valueName: "time"),
        transform: TimeSpan.read)
    var timeLimit: TimeSpan?

    mutating func validate() throws {
        var names: Set<String> = []
        for name in onFinish.compactMap(\.name) where !names.insert(name).inserted {
            throw ValidationError("--on-finish: \(name) is given twice")
        }
        if onFinish.count(where: { $0.name == nil }) > 1 {
            throw ValidationError("--on-finish takes one command or URL without a name")
        }
        for argument in onFinish {
            if let refusal = argument.refusal { throw ValidationError("--on-finish: \(refusal)") }
        }
    }

    /// The name of a command that was given without one.
    private static let unnamed = "on-finish"

    /// Returns the commands of the configuration, overridden by these options.
    func settings(environment: [String: String], configured: [String: [String]] = [:]) -> HookSettings {
        var settings = HookSettings(environment: HookSettings.harmless(environment))
        for (name, words) in configured { settings.commands[name] = HookCommand(words) }
        for argument in onFinish {
            guard case .command(let words) = argument.target else { continue }
            settings.commands[argument.name ?? Self.unnamed] = HookCommand(words)
        }
        if let limit = timeLimit?.duration {
            for name in settings.commands.keys { settings.commands[name]?.timeLimit = limit }
        }
        return settings
    }

    /// The receiver that no job file needs to name.
    var hook: FinishHook? {
        guard let argument = onFinish.first(where: { $0.name == nil }) else { return nil }
        switch argument.target {
        case .command: return .command(Self.unnamed)
        case .webhook(let url): return .webhook(FinishHook.Webhook(url: url))
        }
    }

    /// The receiver where a command line names all jobs: a named one counts as well.
    var onlyHook: FinishHook? { hook ?? onFinish.first?.name.map { .command($0) } }

    /// The given options, for another command line.
    var words: [String] {
        var given = GivenOptions()
        for argument in onFinish { given.add("--on-finish", argument.written) }
        given.add("--on-finish-timeout", timeLimit.map { "\($0.duration.inMilliseconds)ms" })
        return given.words
    }
}

/// An argument `NAME=PROGRAM ARGUMENT…`, `PROGRAM ARGUMENT…`, a URL, or `$VARIABLE` with one.
///
/// The words are divided at blanks, and no shell interprets them; a JSON array may have words with blanks.
struct HookArgument: OptionValue {
    enum Target: Sendable {
        case command([String])
        case webhook(SecretText)
    }

    let name: String?
    let target: Target
    let written: String
    /// The fault of the argument; `nil` for a valid one.
    let refusal: String?

    static let form = "a program and its arguments, such as '/usr/local/bin/notify --all', or a webhook's URL"

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        written = argument
        let head = argument.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        let isNamed = !head.isEmpty && argument[head.endIndex...].first == "="
        name = isNamed ? String(head) : nil
        let text = isNamed ? String(argument[head.endIndex...].dropFirst()) : argument
        let lower = text.prefix(8).lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
            target = .webhook(.literal(text))
            refusal =
                isNamed
                ? "a name stands for a command; a webhook's URL stands in the job file itself"
                : FinishHook.refusal(ofURL: text)
        } else if !isNamed, text.hasPrefix("$") {
            target = .webhook(.environment(String(text.dropFirst())))
            refusal = text.count == 1 ? "$ is followed by the name of a variable" : nil
        } else if text.hasPrefix("[") {
            let words = try? JSONDecoder().decode([String].self, from: Data(text.utf8))
            target = .command(words ?? [])
            refusal = words?.isEmpty ?? true ? "not a JSON array of a program and its arguments" : nil
        } else {
            let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
            target = .command(words)
            if words.isEmpty {
                refusal = "a command is missing"
            } else if text.contains("\"") || text.contains("'") {
                refusal =
                    "no shell reads the command: write words with blanks as a JSON array, ["
                    + #""PROGRAM", "AN ARGUMENT"]"#
            } else {
                refusal = nil
            }
        }
    }
}
