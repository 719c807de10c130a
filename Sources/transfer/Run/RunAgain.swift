import FoundationEssentials
import TransferCore
import TransferQueue

/// The command that continues a batch, to be copied.
struct RunAgain {
    /// The job file.
    var file: String
    /// The name of the batch, where it is not the file's own.
    var name: String?
    /// The folder, where relative paths do not begin in the current one.
    var directory: String?
    /// The folder of the queue, where it is not the default one.
    var state: String?
    /// The options that hold for all of the run's jobs, such as `-j 8`.
    var options: [String] = []
    /// Whether the terminal shows characters beyond ASCII (``CommandHint/isUTF8``).
    var isUTF8 = true

    var command: String {
        var words: [String] = []
        if let name { words += name.hasPrefix("-") ? ["--name=\(name)"] : ["--name", name] }
        if let directory { words += ["-d", directory] }
        return CommandHint(state: state, isUTF8: isUTF8).command("run", file, options: words + options)
    }
}

/// The advice for a batch that only its own command continues: those of `get`, `put`, `copy` and standard input.
enum SameCommand {
    static let words = "the same command again"

    /// The options whose values may be secrets, as logs are kept for long.
    private static let revealing = [
        "-H", "--header", "-b", "--cookie", "-u", "--user", "--password", "--proxy-user", "--proxy-password", "--data",
        "--form", "--metadata", "--key-passphrase",
    ]

    /// Returns the command to continue.
    ///
    /// - Parameter arguments: The arguments of the process, without its name.
    /// - Returns: The command in the shell's spelling, if it contains no secret and no input that must be piped in
    ///   again.
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
    /// Creates the command for a batch.
    ///
    /// - Parameter state: The folder of the queue as it was named to this command.
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
