import ArgumentParser
import TransferCore
import TransferFleet
import TransferQueue
import TransferServer

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer serve",
        abstract: "Serve the queue to this machine: a page, an HTTP API, aria2's JSON-RPC and metrics.",
        discussion: """
            The service runs the jobs of the queue and of the job files, and takes new jobs. At SIGTERM all transfers \
            are checkpointed, and the service ends. Jobs of clients stay inside the folder (--directory) and connect \
            to public servers only. At SIGHUP the job files and the configuration are read again; a file with a fault \
            changes nothing.

            At the first start, a secret is created in the state folder, and the page's address with the secret is \
            printed once. The service listens on this machine only; a reverse proxy connects it to the network: see \
            transfer(1).
            """,
        version: TransferVersion.current)

    @Argument(help: ArgumentHelp("Further job files to run.", valueName: "file"))
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder that holds all files of clients' jobs; the current folder by default.", valueName: "dir"))
    var directory: String?

    @Option(
        help: ArgumentHelp("The address to listen at: a port of this machine, or unix:PATH.", valueName: "address"))
    var listen: String?

    @OptionGroup var access: AccessOptions
    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: ArgumentHelp(
            "A queue that many machines share. The service works on it beside other workers.",
            valueName: "postgres://host/database"))
    var queue: String?

    @Option(
        name: .customLong("queue-key"),
        help: ArgumentHelp(
            "The key by which a shared queue keeps secrets of clients' jobs: 64 hexadecimal digits. Workers that run "
                + "such jobs need the same key. Without --queue, a key is created in the state folder.",
            valueName: "$variable|@file"))
    var queueKey: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the queue's state; with --queue, of the service's own records.", valueName: "dir"))
    var state: String?

    @Option(
        help: ArgumentHelp(
            "Remove batches of clients from the queue that ended longer ago than this, about once an hour; their files "
                + "stay. Without it, they are kept.", valueName: "30d"))
    var keep: String?

    @Flag(name: .shortAndLong, help: "Report successes too.")
    var verbose = false

    func validate() throws {
        _ = try address()
        if let keep, age == nil {
            throw ValidationError("--keep \(keep): a time above 0, at most 100 years, such as 12h or 30d")
        }
    }

    /// Returns the time for which batches are kept; `nil` where none or an invalid one is given.
    var age: Duration? { keep.flatMap { DurationText.parse($0) }.flatMap { $0 > .zero ? $0 : nil } }

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
            "The secret of clients, in place of the generated one.", valueName: "'$NAME'|@FILE"))
    var secret: String?

    @Option(
        name: .customLong("read-secret"),
        help: ArgumentHelp("A secret of clients that may only read; repeatable.", valueName: "'$NAME'|@FILE"))
    var readSecrets: [String] = []

    @Flag(name: .customLong("no-secret"), help: "Require no secret: every client that can connect may do everything.")
    var isOpen = false

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            "An origin whose pages may send requests, with the secret; repeatable. Also null, and a reverse proxy's "
                + "own origin.",
            valueName: "origin"))
    var origins: [String] = []

    @Flag(
        name: .customLong("allow-private"),
        help: "Let jobs of clients connect to servers of private networks and of this machine.")
    var allowsPrivate = false

    @Option(
        name: .customLong("allow-secret"),
        help: ArgumentHelp(
            "A credential that jobs of clients may use at that server; repeatable.", valueName: "name=origin"))
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
    @Option(name: [.customShort("j"), .long], help: ArgumentHelp("The number of transfers at once.", valueName: "n"))
    var concurrency: Int?

    @Option(
        name: .customLong("per-host"),
        help: ArgumentHelp(
            "The number of transfers at once to one host, or auto.", valueName: "n"))
    var perHost: String?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp(
            "The bytes a second of all transfers together.", valueName: "rate"))
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
