import FoundationEssentials
import Glibc
import Logging
import TransferCore
import TransferQueue
import TransferReachability

/// The place where the parts of the command are put together, with the settings of the environment.
enum Composition {
    static let environment = ProcessInfo.processInfo.environment

    static func configuration(
        state: String?, limits: BatchLimits = BatchLimits(), links: MeteredRule = MeteredRule(),
        hooks: HookSettings = HookSettings(), _ set: Configuration = Configuration()
    ) throws -> QueueConfiguration {
        var configuration = QueueConfiguration(state: try statePath(state), limits: limits)
        configuration.userAgent = "transfer/\(TransferVersion.current)"
        configuration.proxies = ProxyRule(environment: environment)
        configuration.secrets = SecretSource(
            environment: { environment[$0] }, credentialsFolder: environment["CREDENTIALS_DIRECTORY"])
        // A service may have left jobs in this queue.
        configuration.sealingKey = try SealingKey.existing(in: configuration.state)
        configuration.runtimeFolder = runtimeFolder
        configuration.meteredRule = links
        configuration.hooks = hooks
        configuration.configuration = set
        configuration.logger.logLevel = .error
        return configuration
    }

    /// Opens the queue, and reports the necessary repairs.
    static func queue(
        state: String?, limits: BatchLimits = BatchLimits(), _ set: Configuration = Configuration(),
        hooks: HookOptions? = nil
    ) async throws -> JobQueue {
        let links = MeteredRule(links: set.meteredLinks)
        let queue = try await JobQueue.open(
            try configuration(
                state: state, limits: limits, links: links,
                hooks: hooks.map { self.hooks($0, set) } ?? HookSettings(), set))
        if let notice = queue.notice { StandardError.write("transfer: \(notice)\n") }
        SpoolFolder.sweep(state: state)
        return queue
    }

    static func remote(state: String?) throws -> QueueRemote {
        try QueueRemote(state: try statePath(state), runtimeFolder: runtimeFolder)
    }

    /// Returns the commands that job files may name: those of the configuration, and of the command line.
    static func hooks(_ options: HookOptions, _ set: Configuration) -> HookSettings {
        options.settings(environment: environment, configured: set.commands)
    }

    /// Returns the queue only if it exists: reading creates nothing.
    static func remote(existingState: String?) throws -> QueueRemote? {
        var status = stat()
        // An inaccessible queue need not be missing: its fault is reported when it is opened.
        if stat(try statePath(existingState) + "/queue.sqlite", &status) != 0, errno == ENOENT { return nil }
        return try remote(state: existingState)
    }

    /// Creates the reporter of a run.
    ///
    /// - Throws: `Failure` when the report file cannot be opened.
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

    /// Begins to write the metrics file, if there is one.
    ///
    /// - Throws: `Failure` when it cannot be updated.
    static func metrics(
        _ options: OutputOptions, _ set: Configuration, of queue: JobQueue, _ reporter: Reporter
    ) throws -> MetricsFile? {
        let named = options.metricsFile.map { ($0.path, "--metrics-file") }
        guard let (path, name) = named ?? set.metricsFile.map({ ($0, "\"metrics\" of the configuration") }) else {
            return nil
        }
        return try MetricsFile(path, of: queue) { reporter.note(.warn, "\(name): \($0)") }
    }

    /// Returns the builder of commands in messages.
    static func hint(state: String?) -> CommandHint {
        CommandHint(state: state, isUTF8: Terminal(STDERR_FILENO, environment: environment).charset == .utf8)
    }

    static var runtimeFolder: String? { environment["XDG_RUNTIME_DIR"] }

    static func statePath(_ explicit: String?) throws -> String {
        absolute(try StateFolder.locate(explicit: explicit, environment: environment))
    }

    static var workingFolder: String { FileManager.default.currentDirectoryPath }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : workingFolder + "/" + path
    }
}
