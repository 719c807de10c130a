import ArgumentParser
import CTransferProgram
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// The entry point of the process, on its main thread and outside a task: the signals must be blocked before the first
/// other thread exists.
@main
enum Start {
    static func main() {
        transfer_limits_prepare()
        CommandPhrases.speak()
        Descriptors.fillStandard()
        Descriptors.raiseLimit()
        Signals.prepare()
        // libdispatch requests threads of higher priority, which only root may have, and writes each refusal to the
        // system's log.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        DatabaseEngine.skipStatistics()
        if let lack = StartingLimits.transfer.lack() {
            Failure(.someFailed, lack).report()
            ExitStatus.exit(.someFailed)
        }
        Task.detached { await Transfer.begin() }
        // dispatchMain() is not used: it unblocks every signal on the main thread.
        Signals.wait()
    }
}

struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Move batches of files over any network: resumed, verified, never twice.",
        discussion: """
            Exit status: 0 all jobs are complete; 1 a job failed for good or was cancelled; 64 wrong usage; 65 the job \
            file is invalid; 66 the job file cannot be read; 74 the state folder cannot be used, or standard output \
            cannot be written; 75 work is left that a later run continues; 78 the queue's database refuses the login, or \
            lacks a right or the database.
            """,
        version: VersionText.full,
        subcommands: [
            Run.self, Get.self, Put.self, Copy.self, Watch.self, Work.self, Serve.self, Status.self, Top.self, Why.self,
            Verify.self, CurlCommand.self, WgetCommand.self, Aria2Command.self,
            NetworkCommand.self,
            ConfigurationCommand.self, Wait.self, Pause.self, Resume.self, Cancel.self, Retry.self,
            Forget.self, Validate.self,
        ])

    /// Returns the command to carry out.
    static func command(_ given: [String]) throws -> any ParsableCommand {
        // The words are another tool's: nothing here reads them first.
        if let front = front(given) { return front }
        var arguments = CommandArguments.normalized(given)
        // wget's name for less output would be a dry run that looks like a download.
        if arguments.contains("-nv") {
            arguments = try UnknownArguments.answered(arguments, commands: configuration.subcommands)
        }
        // `transfer --server URL status` means `transfer status --server URL`.
        if arguments.count > 2, arguments[0] == "--server" {
            return try command([arguments[2], "--server", arguments[1]] + arguments.dropFirst(3))
        }
        // The words are for another program.
        if arguments.first == Serve._commandName {
            var serve = Serve()
            serve.words = Array(arguments.dropFirst())
            return serve
        }
        // Trying all other commands first would take longer than small batches do. Help and faults come from the
        // general parser.
        if arguments.first == Run._commandName, let run = try? Run.parse(Array(arguments.dropFirst())) { return run }
        do {
            return try parseAsRoot(arguments)
        } catch {
            let answer = ParserAnswer(error: error, code: exitCode(for: error))
            guard answer.code != .success else { throw answer }
            // A foreign option is answered as such, and not as an invalid URL.
            let checked = try UnknownArguments.answered(arguments, commands: configuration.subcommands)
            guard checked != arguments else { throw answer }
            return try parseAsRoot(checked)
        }
    }

    /// Returns the command for another tool's command line; `nil` for any other command.
    private static func front(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let name = arguments.first, let tool = FrontTool(rawValue: name) else { return nil }
        let words = Array(arguments.dropFirst())
        switch tool {
        case .curl: return CurlCommand(taking: words)
        case .wget: return WgetCommand(taking: words)
        case .aria2: return Aria2Command(taking: words)
        }
    }

    static func begin() async {
        var verb: (any ParsableCommand.Type)?
        do {
            var command = try command(CommandArguments.given())
            verb = type(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            ExitStatus.exit(.complete)
        } catch let failure as Failure {
            failure.report()
            ExitStatus.exit(failure.status)
        } catch let error as TransferError {
            let status = ExitStatus.of(error)
            Failure(status, error.message).report()
            ExitStatus.exit(status)
        } catch let answer as ParserAnswer where answer.code != .failure {
            tell(answer)
        } catch  where exitCode(for: error) == .failure {
            // The error is none of ArgumentParser's: the remaining source is the database.
            Failure(.stateUnusable, "\(error)").report()
            ExitStatus.exit(.stateUnusable)
        } catch let error as ValidationError {
            // A fault that a verb finds after its start is reported with the verb's usage, like a fault of the parser.
            guard let verb else { tell(ParserAnswer(error: error, code: exitCode(for: error))) }
            StandardError.write(
                """
                Error: \(error.message)
                Usage: \(usageString(for: verb))
                  See 'transfer \(verb._commandName) --help' for more information.

                """)
            ExitStatus.exit(.wrongUsage)
        } catch {
            tell(ParserAnswer(error: error, code: exitCode(for: error)))
        }
    }

    /// Ends with the message of ArgumentParser: help and version on standard output, faults of usage on standard error.
    private static func tell(_ answer: ParserAnswer) -> Never {
        let status = ExitStatus(rawValue: answer.code.rawValue) ?? .wrongUsage
        let width = Terminal(STDOUT_FILENO, environment: Composition.environment).size.width
        // The parser reads the width here. It would wrap the lines, which are laid out afterwards.
        if status == .complete { setenv("COLUMNS", "100000", 1) }
        let text = fullMessage(for: answer.error)
        if status == .complete {
            let isHelp = text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ")
            print(isHelp ? HelpLayout.text(text, width: width) : CompletionScript.corrected(text))
        } else if !text.isEmpty {
            StandardError.write(text + "\n")
        }
        ExitStatus.exit(status)
    }
}

/// An answer of the parser instead of a command: help, or a fault of usage.
///
/// The exit status is asked for once: for each question ArgumentParser reflects all options of the verb.
struct ParserAnswer: Error {
    var error: any Error
    var code: ExitCode
}
