import ArgumentParser
import Glibc
import TransferCore
import TransferFleet
import TransferQueue
import TransferWatch

struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Work on a queue that many machines share, until stopped.",
        discussion: """
            The worker takes jobs that transfer run FILE --queue added, beside other workers on this machine and on \
            others. At SIGTERM it takes no new jobs, and the transfers under way end within the time of --drain (30s). What \
            is left then is checkpointed and given back. A second signal ends the worker at once. While the database \
            is not available, the worker waits and reports it.

            Jobs come from other users: their files stay inside the folder (--directory), and they connect to public \
            servers only.
            """)

    @Option(
        help: ArgumentHelp(
            "The queue to work on.", valueName: "postgres://host/database"), transform: QueueAddress.text)
    var queue: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder that relative paths start from, and that holds all files of jobs; the current folder by "
                + "default.",
            valueName: "dir"), completion: .directory, transform: PathArgument.text)
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "Take also jobs that require these tags, or some of them (\"worker\": {\"tags\": [\"eu\"]}).",
            valueName: "gpu,eu"),
        transform: TagsArgument.read)
    var tags: TagsArgument?

    @Option(
        name: .customLong("queue-key"),
        help: ArgumentHelp(
            "The key of secrets that a service has sealed in the queue; without it, the worker leaves such jobs to "
                + "others.",
            valueName: "$variable|@file"))
    var queueKey: String?

    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Jobs of others") var outside: OutsideOptions

    @Option(
        help: ArgumentHelp(
            "The lease: other workers continue this worker's jobs after this time without a sign of life; at least 3s.",
            valueName: "30s"),
        transform: TimeSpan.read)
    var lease: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "The time for the transfers under way when the worker is asked to end, 30s by default; 0 checkpoints them "
                + "and gives their jobs back at once.",
            valueName: "30s"),
        transform: Delay.read)
    var drain: Delay?

    @Option(
        help: ArgumentHelp(
            "Answer /healthz, and /metrics in Prometheus' text format, at this loopback address or Unix socket, without "
                + "a secret.", valueName: "127.0.0.1:9400|unix:/path"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Remove batches from the queue that ended longer ago than this, about once an hour; their files stay. "
                + "Without it, they are kept.", valueName: "30d"),
        transform: TimeSpan.read)
    var keep: TimeSpan?

    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    mutating func validate() throws {
        _ = try address()
        _ = try SecretArgument.value(queueKey, "--queue-key")
        _ = try listenAddress()
        if let lease, lease.duration < .seconds(3) || lease.duration > .seconds(3600) {
            throw ValidationError("--lease takes 3s to 1h")
        }
    }

    func run() async throws {
        let (address, settings) = (try address(), try WorkerSettings(configuration, limits))
        var rules = OutsideRules(directory: try folder())
        rules.allowsPrivate = outside.allowsPrivate
        rules.secrets = try outside.allowedSecrets()
        let reporter = try Composition.reporter(output)
        var worker = FleetWorker(rules: rules)
        worker.lease = lease?.duration ?? worker.lease
        worker.tags = tags?.tags ?? .none
        var shift = WorkerSupervisor(
            address: address, settings: settings, hooks: output.hooks, worker: worker, reporter: reporter)
        shift.drain = drain?.duration ?? shift.drain
        shift.keep = keep?.duration
        shift.listen = try listenAddress()
        shift.manager = SystemdNotify(environment: Composition.environment)
        shift.sealingKey = try sealingKey()
        var hint = Composition.hint(state: nil)
        hint.queue = queue
        reporter.call([:], hint)
        shift.metrics = { [output] queue in
            try Composition.metrics(output, settings.configuration, of: queue, reporter)
        }
        ExitStatus.exit(try await shift.run())
    }

    /// Reads the key of sealed secrets.
    ///
    /// - Throws: `Failure` with the status of a faulty configuration, after which the unit does not start the worker again.
    private func sealingKey() throws -> SealingKey? {
        guard let queueKey else { return nil }
        let secrets = SecretSource(
            environment: { Composition.environment[$0] },
            credentialsFolder: Composition.environment["CREDENTIALS_DIRECTORY"])
        do {
            return try SealingKey.named(queueKey, secrets, folder: Composition.workingFolder)
        } catch {
            throw Failure(.invalidJobFile, error.message)
        }
    }

    private func listenAddress() throws -> ListenAddress? {
        do throws(TransferError) {
            return try listen.map { text throws(TransferError) in try ListenAddress(text) }
        } catch {
            throw ValidationError("--listen: \(error.message)")
        }
    }

    private func address() throws -> FleetAddress {
        guard QueueAddress.isDatabase(queue) else {
            throw ValidationError("work needs --queue postgres://HOST/DATABASE: other queues are one machine's")
        }
        return try QueueAddress.database(queue)
    }

    /// Returns the real path of the folder, as links are followed only below it.
    private func folder() throws -> String {
        let path = Composition.absolute(directory ?? Composition.workingFolder)
        guard let real = realpath(path, nil) else {
            throw Failure(.wrongUsage, "cannot use \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The options for the servers and credentials of this machine that other users' jobs may use.
struct OutsideOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-private"),
        help: "Let jobs of other users connect to servers of private networks and of this machine.")
    var allowsPrivate = false

    @Option(
        name: .customLong("allow-secret"),
        help: ArgumentHelp(
            "A credential that jobs of other users may use at that server; repeatable.", valueName: "name=origin"))
    var credentials: [String] = []

    func validate() throws { _ = try allowedSecrets() }

    func allowedSecrets() throws -> [String: Set<Origin>] {
        do {
            return try OutsideRules.secrets(credentials)
        } catch {
            throw ValidationError("--allow-secret \(error.message)")
        }
    }
}
