import ArgumentParser
import TransferFleet
import TransferQueue
import TransferServer

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer serve",
        abstract: "Serve the queue to this machine: a page, an HTTP API, aria2's JSON-RPC and metrics.",
        discussion: """
            Runs what is in the queue and in the job files, takes new work, and ends at SIGTERM with everything
            checkpointed. Jobs of clients stay beneath the folder (--directory) and ask public servers only.
            At SIGHUP the job files and the configuration are read again; a file with a fault changes nothing.
            At the first start a secret is made, in the state folder, and the page's address with it is printed once.
            The network is a reverse proxy's: see transfer(1).
            """,
        version: TransferVersion.current)

    @Argument(help: ArgumentHelp("Job files to run besides.", valueName: "file"))
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder that all jobs of clients stay beneath; the current one without.", valueName: "dir"))
    var directory: String?

    @Option(
        help: ArgumentHelp("Where to listen: a port of this machine, or unix:PATH.", valueName: "address"))
    var listen: String?

    @OptionGroup var access: AccessOptions
    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: ArgumentHelp(
            "A queue that many machines share, which the service works on beside others.",
            valueName: "postgres://host/database"))
    var queue: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the queue's state; with --queue, of what the service remembers.", valueName: "dir"))
    var state: String?

    @Flag(name: .shortAndLong, help: "Tell also what succeeds.")
    var verbose = false

    func validate() throws { _ = try address() }

    /// Returns the address of the shared queue.
    ///
    /// - Throws: `ValidationError` for an invalid address.
    func address() throws -> FleetAddress? {
        guard let queue else { return nil }
        guard FleetAddress.isMeant(queue) else {
            throw ValidationError("--queue takes postgres://HOST/DATABASE; the folder of a queue is --state")
        }
        do {
            return try FleetAddress(queue)
        } catch {
            throw ValidationError((error as? TransferError)?.message ?? "\(error)")
        }
    }

    func run() async throws {
        try await Serving(self).run()
    }
}

/// The options for the rights of clients.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The secret that clients show, in place of the one that is made.", valueName: "'$NAME'|@FILE"))
    var secret: String?

    @Option(
        name: .customLong("read-secret"),
        help: ArgumentHelp("A secret of clients that only look; repeatable.", valueName: "'$NAME'|@FILE"))
    var readSecrets: [String] = []

    @Flag(name: .customLong("no-secret"), help: "Everybody who can connect may do everything.")
    var isOpen = false

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            "Pages of this origin may ask, with the secret; repeatable. Also null, and a reverse proxy's own.",
            valueName: "origin"))
    var origins: [String] = []

    @Flag(
        name: .customLong("allow-private"),
        help: "Jobs of clients may ask servers of private networks and of this machine.")
    var allowsPrivate = false

    @Option(
        name: .customLong("allow-secret"),
        help: ArgumentHelp(
            "Jobs of clients may use this credential at that server; repeatable.", valueName: "name=origin"))
    var credentials: [String] = []

    func validate() throws {
        if isOpen, secret != nil || !readSecrets.isEmpty { throw ValidationError("--no-secret goes without secrets") }
        for origin in origins {
            if let refusal = ServeDecoder.refusal(ofOrigin: origin) {
                throw ValidationError("--allow-origin \(origin): \(refusal)")
            }
        }
        _ = try allowedSecrets()
    }

    func allowedSecrets() throws -> [String: Set<Origin>] {
        do {
            return try OutsideRules.secrets(credentials)
        } catch {
            throw ValidationError("--allow-secret \(error.message)")
        }
    }
}

/// The options for the limits on simultaneous work.
struct BoundOptions: ParsableArguments {
    @Option(name: [.customShort("j"), .long], help: ArgumentHelp("Transfers at once.", valueName: "n"))
    var concurrency: Int?

    @Option(
        name: .customLong("per-host"), help: ArgumentHelp("Transfers at once to one host, or auto.", valueName: "n"))
    var perHost: String?

    @Option(name: .customLong("limit-rate"), help: ArgumentHelp("Bytes a second for all together.", valueName: "rate"))
    var limitRate: String?

    func validate() throws {
        if let concurrency, !FieldRanges.concurrencies.contains(concurrency) {
            throw ValidationError("-j takes 1 to \(FieldRanges.concurrencies.upperBound)")
        }
        if let perHost, PerHost(text: perHost) == nil { throw ValidationError("--per-host takes a number or auto") }
        if let limitRate, ByteCount.parse(limitRate) == nil {
            throw ValidationError("--limit-rate takes bytes a second, with K, M or G")
        }
    }

    /// Returns the limits: those of the options, or else of the job file, or else of the configuration.
    func limits(_ file: BatchLimits, _ configuration: Configuration) -> BatchLimits {
        let standing = configuration.limits
        var limits = file
        limits.concurrency = file.concurrency ?? standing.concurrency
        limits.perHost = file.perHost ?? standing.perHost
        limits.limitRate = file.limitRate ?? standing.limitRate
        limits.requestRate = file.requestRate ?? standing.requestRate
        limits.origins = standing.origins
        if let concurrency { limits.concurrency = concurrency }
        if let perHost { limits.perHost = PerHost(text: perHost) }
        if let limitRate { limits.limitRate = ByteCount.parse(limitRate) }
        return limits
    }
}
