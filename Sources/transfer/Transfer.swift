import ArgumentParser
import CTransferLimits
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// Where the process begins: on its main thread and not yet in a task, as the signals have to be blocked before the
/// first other thread exists.
@main
enum Start {
    static func main() {
        transfer_limits_prepare()
        CommandPhrases.speak()
        Descriptors.fillStandard()
        Descriptors.raiseLimit()
        Signals.prepare()
        // libdispatch asks for threads of higher priority, which only root may have, and tells the system's log each time
        // that it got none.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        DatabaseEngine.skipStatistics()
        if let lack = StartingLimits.transfer.lack() {
            Failure(.someFailed, lack).report()
            ExitStatus.exit(.someFailed)
        }
        Task.detached { await Transfer.begin() }
        // Not dispatchMain(): that lets the main thread take every signal again.
        Signals.wait()
    }
}

struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Moves batches of files over any network: resumed, verified, never twice.",
        discussion: """
            Exit status: 0 all complete; 1 some job failed for good or was cancelled; 64 wrong usage; 65 the job file
            is invalid; 66 it can't be read; 74 the state folder can't be used, or standard output can't be written; 75 work is left
            that a later run continues.
            """,
        version: VersionText.full,
        subcommands: [
            Run.self, Get.self, Put.self, Copy.self, Watch.self, Work.self, Serve.self, Status.self, Why.self,
            Verify.self,
            NetworkCommand.self,
            ConfigurationCommand.self, Wait.self, Pause.self, Resume.self, Cancel.self, Retry.self,
            Forget.self, Validate.self,
        ])

    /// What is to be done.
    static func command(_ arguments: [String]) throws -> any ParsableCommand {
        // wget's name for "say less" would be a dry run that looks like a download.
        let arguments =
            arguments.contains("-nv")
            ? try UnknownArguments.answered(arguments, commands: configuration.subcommands) : arguments
        // `transfer --server URL status` reads like `transfer status --server URL`.
        if arguments.count > 2, arguments[0] == "--server" {
            return try command([arguments[2], "--server", arguments[1]] + arguments.dropFirst(3))
        }
        // Its words are another program's.
        if arguments.first == Serve._commandName {
            var serve = Serve()
            serve.words = Array(arguments.dropFirst())
            return serve
        }
        // To look at all the other commands first takes longer than small batches do. Help and faults come from there.
        if arguments.first == Run._commandName, let run = try? Run.parse(Array(arguments.dropFirst())) { return run }
        do {
            return try parseAsRoot(arguments)
        } catch  where exitCode(for: error) != .success {
            // What isn't ours is answered as what it is, and not as a URL that it isn't.
            let checked = try UnknownArguments.answered(arguments, commands: configuration.subcommands)
            guard checked != arguments else { throw error }
            return try parseAsRoot(checked)
        }
    }

    static func begin() async {
        var verb: (any ParsableCommand.Type)?
        do {
            var command = try command(CommandArguments.normalized(CommandArguments.given()))
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
            Failure(.stateUnusable, error.message).report()
            ExitStatus.exit(.stateUnusable)
        } catch  where exitCode(for: error) == .failure {
            // None of ArgumentParser's own: what is left is the database.
            Failure(.stateUnusable, "\(error)").report()
            ExitStatus.exit(.stateUnusable)
        } catch let error as ValidationError {
            // What a verb finds when it has begun is told with that verb's usage, as what the parser finds is.
            guard let verb else { tell(error) }
            StandardError.write(
                """
                Error: \(error.message)
                Usage: \(usageString(for: verb))
                  See 'transfer \(verb._commandName) --help' for more information.

                """)
            ExitStatus.exit(.wrongUsage)
        } catch {
            tell(error)
        }
    }

    /// Ends with what ArgumentParser has to say: help and version on standard output, faults of usage on standard error.
    private static func tell(_ error: any Error) -> Never {
        let status = ExitStatus(rawValue: exitCode(for: error).rawValue) ?? .wrongUsage
        let text = fullMessage(for: error)
        if status == .complete {
            print(text)
        } else if !text.isEmpty {
            StandardError.write(text + "\n")
        }
        ExitStatus.exit(status)
    }
}
