import ArgumentParser
import Glibc
import TransferCore
import TransferFleet
import TransferQueue

struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Work on a queue that many machines share, until stopped.",
        discussion: """
            Takes jobs that transfer run FILE --queue brought, beside other workers on this machine and on others. At
            SIGTERM everything is checkpointed and given back; while the database is away it waits, and says so.
            Jobs come from others: their files stay beneath the folder (--directory), and they ask public servers only.
            """)

    @Option(
        help: ArgumentHelp("The queue.", valueName: "postgres://host/database"), transform: QueueAddress.text)
    var queue: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder that relative paths start from and all files of jobs lie beneath; the current one without.",
            valueName: "dir"), transform: PathArgument.text)
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "Take jobs, too, that ask for these tags (\"worker\": {\"tags\": [\"eu\"]}), or for some of them.",
            valueName: "gpu,eu"),
        transform: TagsArgument.read)
    var tags: TagsArgument?

    @OptionGroup var limits: LimitOptions
    @OptionGroup var outside: OutsideOptions

    @Option(
        help: ArgumentHelp(
            "Without a sign of life for so long others go on with this worker's jobs; at least 3s.", valueName: "30s"),
        transform: TimeSpan.read)
    var lease: TimeSpan?

    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var output: OutputOptions

    mutating func validate() throws {
        _ = try address()
        if let lease, lease.duration < .seconds(3) || lease.duration > .seconds(3600) {
            throw ValidationError("--lease takes 3s to 1h")
        }
    }

    func run() async throws {
        let (address, set) = (try address(), try configuration.load())
        var rules = OutsideRules(directory: try folder())
        rules.allowsPrivate = outside.allowsPrivate
        rules.secrets = try outside.allowedSecrets()
        let reporter = try Composition.reporter(output)
        var worker = FleetWorker(rules: rules)
        worker.lease = lease?.duration ?? worker.lease
        worker.tags = tags?.tags ?? .none
        let merged = limits.merged(with: BatchLimits(), set)
        var shift = WorkerSupervisor(
            address: address, limits: merged, configuration: set, hooks: output.hooks,
            worker: worker, reporter: reporter)
        var hint = Composition.hint(state: nil)
        hint.queue = queue
        reporter.call([:], hint)
        shift.metrics = { [output] queue in try Composition.metrics(output, set, of: queue, reporter) }
        ExitStatus.exit(try await shift.run())
    }

    private func address() throws -> FleetAddress {
        guard QueueAddress.isDatabase(queue) else {
            throw ValidationError("work needs --queue postgres://HOST/DATABASE: other queues are one machine's")
        }
        return try QueueAddress.database(queue)
    }

    /// The folder by its real path, as links are followed beneath it only.
    private func folder() throws -> String {
        let path = Composition.absolute(directory ?? Composition.workingFolder)
        guard let real = realpath(path, nil) else {
            throw Failure(.wrongUsage, "can't use \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The options that say which servers and credentials of this machine jobs of others may use.
struct OutsideOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-private"),
        help: "Jobs of others may ask servers of private networks and of this machine.")
    var allowsPrivate = false

    @Option(
        name: .customLong("allow-secret"),
        help: ArgumentHelp(
            "Jobs of others may use this credential at that server; repeatable.", valueName: "name=origin"))
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
