import CTransferLinux
import Glibc
import TransferCore

/// The commands that jobs and batches may name as their `onFinish`, and the environment that these commands get.
///
/// A job file cannot define commands: only the program that opens the queue can.
public struct HookSettings: Sendable, Hashable {
    /// The commands by name.
    public var commands: [String: HookCommand]
    /// The whole environment of the commands, besides `TRANSFER_EVENT_ID`.
    public var environment: [String: String]

    /// Creates settings from commands by name, and the environment that they get.
    public init(commands: [String: HookCommand] = [:], environment: [String: String] = [:]) {
        self.commands = commands
        self.environment = environment
    }

    /// Returns the variables that describe the user and the locale and cannot hold a secret: `PATH`, `HOME`, `LANG`,
    /// `LC_…`, `TZ` and `XDG_RUNTIME_DIR`.
    ///
    /// - Parameter environment: The environment of a process.
    public static func harmless(_ environment: [String: String]) -> [String: String] {
        let names: Set = ["PATH", "HOME", "LANG", "TZ", "XDG_RUNTIME_DIR"]
        return environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    /// Checks a command that a job file names.
    ///
    /// - Returns: The fault and its remedy; `nil` if the command can be started.
    public func refusal(of name: String) -> String? {
        guard let command = commands[name] else {
            return "no command \"\(name)\" is known: add it to \"commands\" of the configuration"
                + CommandPhrases.only(", or write --on-finish \(name)=COMMAND")
        }
        do throws(HookCommand.Fault) {
            _ = try command.program(path: environment["PATH"])
            return nil
        } catch {
            return "the command \"\(name)\" cannot be started: \(error.message)"
        }
    }
}

/// A program and its arguments.
public struct HookCommand: Sendable, Hashable {
    /// The program, then its arguments. The program is a path, or a name that is searched for in `PATH`. No shell reads
    /// them.
    public var arguments: [String]
    /// The time that the command may take before it is ended; 60 s by default.
    public var timeLimit: Duration

    /// Creates a command from a program with its arguments, and its time limit.
    public init(_ arguments: [String], timeLimit: Duration = .seconds(60)) {
        self.arguments = arguments
        self.timeLimit = timeLimit
    }

    /// The reason why a command cannot be started.
    struct Fault: Error {
        let message: String
    }

    /// Finds the file that is executed.
    ///
    /// - Parameter path: Folders, separated by colons.
    func program(path: String?) throws(Fault) -> String {
        guard let name = arguments.first, !name.isEmpty else { throw Fault(message: "it has no program") }
        guard !name.contains("/") else {
            if let refusal = Self.refusal(of: name) { throw Fault(message: refusal) }
            return name
        }
        for folder in (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
            let file = "\(folder)/\(name)"
            if Self.refusal(of: file) == nil { return file }
        }
        throw Fault(message: "no program \(name) is in PATH; write its whole path")
    }

    private static func refusal(of file: String) -> String? {
        var status = stat()
        guard stat(file, &status) == 0 else { return "\(file): \(String(cString: strerror(errno)).lowercasedFirst)" }
        guard status.st_mode & S_IFMT == S_IFREG else { return "\(file) is not a program" }
        return access(file, X_OK) == 0 ? nil : "\(file) is not executable; chmod +x makes it so"
    }
}
