import CTransferLinux
import Glibc
import TransferCore

/// What the names of commands stand for that jobs and batches name as their `onFinish`, and what these commands get of the
/// environment.
///
/// A job file can't say what is executed: only who opens the queue does.
public struct HookSettings: Sendable, Hashable {
    /// By name.
    public var commands: [String: HookCommand]
    /// All that commands get of the environment, besides `TRANSFER_EVENT_ID`.
    public var environment: [String: String]

    public init(commands: [String: HookCommand] = [:], environment: [String: String] = [:]) {
        self.commands = commands
        self.environment = environment
    }

    /// - Parameter environment: Of a process.
    /// - Returns: What of it says who and where somebody is, and nothing that may be a secret: `PATH`, `HOME`, `LANG`,
    ///   `LC_…`, `TZ` and `XDG_RUNTIME_DIR`.
    public static func harmless(_ environment: [String: String]) -> [String: String] {
        let names: Set = ["PATH", "HOME", "LANG", "TZ", "XDG_RUNTIME_DIR"]
        return environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    /// - Returns: What is wrong with a command that a job file names, and what to do; `nil` where nothing is.
    public func refusal(of name: String) -> String? {
        guard let command = commands[name] else {
            return "no command \"\(name)\" is known: add it to \"commands\" of the configuration"
                + CommandPhrases.only(", or write --on-finish \(name)=COMMAND")
        }
        do throws(HookCommand.Fault) {
            _ = try command.program(path: environment["PATH"])
            return nil
        } catch {
            return "the command \"\(name)\" can't be started: \(error.message)"
        }
    }
}

/// A program and its arguments.
public struct HookCommand: Sendable, Hashable {
    /// The program first: a path, or a name that is looked for in `PATH`. No shell reads them.
    public var arguments: [String]
    /// How long it may take before it's ended; 60 s by default.
    public var timeLimit: Duration

    public init(_ arguments: [String], timeLimit: Duration = .seconds(60)) {
        self.arguments = arguments
        self.timeLimit = timeLimit
    }

    /// Why it can't be started.
    struct Fault: Error {
        let message: String
    }

    /// - Parameter path: Folders, with colons between them.
    /// - Returns: The file that is executed.
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
        guard status.st_mode & S_IFMT == S_IFREG else { return "\(file) isn't a program" }
        return access(file, X_OK) == 0 ? nil : "\(file) isn't executable; chmod +x makes it so"
    }
}
