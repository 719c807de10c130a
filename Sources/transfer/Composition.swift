import FoundationEssentials
import Glibc
import Logging
import TransferCore
import TransferQueue

/// The one place where the parts of the command are put together, with what the environment says.
enum Composition {
    static let environment = ProcessInfo.processInfo.environment

    static func configuration(state: String?, limits: BatchLimits = BatchLimits()) throws -> QueueConfiguration {
        var configuration = QueueConfiguration(state: try statePath(state), limits: limits)
        configuration.userAgent = "transfer/\(TransferVersion.current)"
        configuration.proxies = ProxyRule(environment: environment)
        configuration.secrets = SecretSource(
            environment: { environment[$0] }, credentialsFolder: environment["CREDENTIALS_DIRECTORY"])
        configuration.runtimeFolder = runtimeFolder
        configuration.logger.logLevel = .error
        return configuration
    }

    static func remote(state: String?) throws -> QueueRemote {
        try QueueRemote(state: try statePath(state), runtimeFolder: runtimeFolder)
    }

    /// The queue only if there is one already: looking makes nothing.
    static func remote(existingState: String?) throws -> QueueRemote? {
        let path = try statePath(existingState)
        return access(path + "/queue.sqlite", F_OK) == 0 ? try remote(state: existingState) : nil
    }

    /// - Throws: `Failure` when the report file can't be opened.
    static func reporter(_ options: OutputOptions) throws -> Reporter {
        let json: ReporterOptions.JSON = options.jsonProgress ? .withProgress : options.json ? .events : .off
        let chosen = ReporterOptions(
            progress: ReporterOptions.Progress(rawValue: options.progress.rawValue) ?? .auto, json: json,
            isQuiet: options.quiet, isVerbose: options.verbose, reportFile: options.report)
        do throws(TransferError) {
            return try Reporter(
                chosen, terminal: Terminal(STDERR_FILENO, environment: environment),
                standardOutput: Terminal(STDOUT_FILENO, environment: environment))
        } catch {
            throw Failure(.wrongUsage, error.message)
        }
    }

    static var runtimeFolder: String? { environment["XDG_RUNTIME_DIR"] }

    static func statePath(_ explicit: String?) throws -> String {
        absolute(try StateFolder.locate(explicit: explicit, environment: environment))
    }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// As many descriptors as the system lets us have: each transfer has a file and a connection.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
