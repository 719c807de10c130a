import FoundationEssentials
import TransferCore
import TransferQueue

/// The command that goes on with a batch, to be copied.
struct RunAgain {
    /// The job file.
    var file: String
    /// Where it isn't the file's own.
    var name: String?
    /// Where relative paths don't start from the folder that one is in.
    var directory: String?
    /// Where the queue isn't the usual one.
    var state: String?
    /// Options of the run that hold for all of its jobs, such as `-j 8`.
    var options: [String] = []
    /// ``CommandHint/isUTF8``
    var isUTF8 = true

    var command: String {
        var words: [String] = []
        if let name { words += name.hasPrefix("-") ? ["--name=\(name)"] : ["--name", name] }
        if let directory { words += ["-d", directory] }
        return CommandHint(state: state, isUTF8: isUTF8).command("run", file, options: words + options)
    }
}

/// The words for a batch that only its own command goes on with: what `get`, `put` and `copy` began, and standard input.
enum SameCommand {
    static let words = "the same command again"

    /// Options whose values may be secrets, as a log keeps them for long.
    private static let revealing = [
        "-H", "--header", "-b", "--cookie", "-u", "--user", "--password", "--proxy-user", "--proxy-password", "--data",
        "--form", "--metadata", "--key-passphrase",
    ]

    /// - Parameter arguments: Those of the process, without its name.
    /// - Returns: The command as a shell reads it, where nothing in it may be a secret or has to be piped in again.
    static func command(_ arguments: [String], isUTF8: Bool) -> String {
        let hidesNothing = arguments.allSatisfy { argument in
            argument != "-" && !Redaction.hasSecret(argument)
                && !revealing.contains { option in
                    // `-Hname` and `--header=…` are one word.
                    argument.hasPrefix(option)
                        && (argument.count == option.count || option.count == 2
                            || argument.dropFirst(option.count).hasPrefix("="))
                }
        }
        guard hidesNothing, !arguments.isEmpty else { return words }
        return (["transfer"] + arguments).map { ShellWord.quoted($0, isUTF8: isUTF8) }.joined(separator: " ")
    }
}

extension RunAgain {
    /// - Parameter state: As it was named to the command that asks.
    /// - Returns: `nil` for a batch that came from no file.
    init?(_ status: BatchStatus, state: String?) {
        guard let source = status.source else { return nil }
        let own = (try? JobFileSource(source))?.batch().name ?? source
        self.init(
            file: source, name: own == status.name ? nil : status.name,
            directory: status.directory == FileManager.default.currentDirectoryPath ? nil : status.directory,
            state: state, isUTF8: Composition.hint(state: state).isUTF8)
    }
}
