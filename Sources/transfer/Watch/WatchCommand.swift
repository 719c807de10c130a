import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue
import TransferWatch

struct Watch: AsyncParsableCommand, RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload files that appear in a folder, each version of each file once, until stopped.",
        discussion: """
            A file is uploaded when it was closed after writing or moved in, and has not changed for the settle time. \
            Files that are in the folder already are uploaded too.

            Some names are left alone until the file is renamed. They begin with a dot or ~$, stand between two #, or \
            end in ~, .part, .tmp, .filepart, .crdownload or .aria2. An --include that contains the mark itself takes \
            them (--include '.env').

            The URL may hold {name}, {path} (below the folder), {date}, {sha256} and {host}. A URL that names no file \
            gets {name}, or {path} with --recursive.

            The command ends in order at SIGINT and SIGTERM. It also ends at SIGHUP, because it has no job file to \
            read again.

            The key "watch" of a job file does the same, with everything that a job can say; transfer run watches its \
            folders.

            With --queue postgres://… several machines may watch one folder. Any worker then uploads what it reaches of \
            it, and each version of each file is uploaded once.
            """)

    @Argument(
        help: ArgumentHelp("The folder to watch. A missing folder is waited for.", valueName: "dir"),
        completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("The URL that each file is uploaded to.", valueName: "url"))
    var to: String

    @OptionGroup(title: "The end of the watch") var end: WatchEndOptions
    @OptionGroup(title: "Uploads") var upload: UploadOptions
    @OptionGroup(title: "Requests") var fields: FieldOptions
    @OptionGroup(title: "Logins, proxies and TLS") var login: LoginArguments
    @OptionGroup(title: "Logins, proxies and TLS") var proxy: ProxyOptions
    @OptionGroup(title: "Logins, proxies and TLS") var trust: TrustOptions
    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Attempts and limits") var attempts: AttemptOptions
    @OptionGroup(title: "Files of the folder") var files: WatchedFileOptions

    @Option(
        help: ArgumentHelp(
            "The time for which a file must not change; 2s by default.", valueName: "time"), transform: TimeSpan.read)
    var settle: TimeSpan?

    @OptionGroup(title: "Files of the folder") var confirmed: ConfirmedFileOptions

    @Flag(name: .customLong("new-only"), help: "Leave alone the files that are in the folder at the first start.")
    var newOnly = false

    @Option(
        help: "The waiting file that goes first: oldest, newest or smallest.",
        completion: .list(Choice<WatchOrder>.names), transform: Choice.read)
    var order: Choice<WatchOrder>?

    @Flag(help: "Compare the server's digest with the file's before the file counts as uploaded.")
    var checksum = false

    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Output") var show: OutputOptions
    @OptionGroup(title: "The queue") var state: StateOptions
    @OptionGroup(title: "The queue") var fleet: WatchQueueOptions

    func validate() throws {
        _ = try request.rules()
        if folder.isEmpty { throw ValidationError("name a folder") }
        if end.noLedger {
            if newOnly {
                throw ValidationError("--no-ledger sends what is in the folder, and --new-only leaves it alone")
            }
            if state.state != nil { throw ValidationError("--no-ledger keeps no state: leave --state out") }
            if fleet.queue != nil { throw ValidationError("--no-ledger remembers nothing: leave --queue out") }
        }
        if try fleet.address() != nil {
            if state.state != nil { throw ValidationError("--queue goes without --state: each names a queue") }
            if show.hooks.hook != nil {
                throw ValidationError(
                    "--on-finish would have other machines run a command or ask a server, which workers refuse: leave it out"
                )
            }
        }
        _ = try spec()
    }

    /// Returns the watch.
    ///
    /// - Throws: `ValidationError` for contradictory options.
    func spec(_ configuration: Configuration = Configuration(), typed: TypedPasswords? = nil) throws -> WatchSpec {
        let (upload, settings) = try upload.upload(to: to, by: request, configuration, typed: typed, option: "--to: ")
        var spec = WatchSpec(folder: folder, url: upload.url)
        spec.rules = files.rules
        spec.settle = settle?.duration ?? spec.settle
        spec.then = confirmed.then?.value ?? .keep
        spec.keepFor = confirmed.keepFor?.duration
        spec.isNewOnly = newOnly
        spec.order = order?.value ?? .oldest
        spec.verifiesDigest = checksum
        spec.upload = upload
        spec.settings = settings
        spec.settings.onFinish = show.hooks.onlyHook
        if !configuration.isEmpty { spec.plain = Shared(wrappedValue: WatchSpec.Plain(try self.spec(typed: typed))) }
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw ValidationError("\(folder) is not a folder; transfer put uploads single files")
        }
        if end.once, access(folder, R_OK | X_OK) != 0 {
            throw ValidationError("cannot read \(folder): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        let faults = spec.complete(directory: FileManager.default.currentDirectoryPath)
        guard let fault = faults.first else { return spec }
        throw ValidationError("\(Self.option(fault.part)): \(fault.message)")
    }

    private static func option(_ part: WatchSpec.Part) -> String {
        switch part {
        case .folder: "the folder"
        case .url: "--to"
        case .then: "--then"
        case .keepFor: "--keep-for"
        }
    }

    func run() async throws {
        if let lack = StartingLimits.watch.lack() { throw Failure(.someFailed, lack) }
        try request.fields.checkFiles()
        let configuration = try request.configuration.load()
        let spec = try spec(configuration, typed: try request.login.askedPasswords(for: [to]))
        let scratch = end.noLedger ? try ScratchState() : nil
        defer { scratch?.remove() }
        let place = scratch?.path ?? state.state
        var hint = state.hint
        hint.persistence = end.noLedger ? .isForgotten : end.once ? .isRemembered : .watches
        let merged = limits.merged(with: BatchLimits(), configuration)
        let (queue, reporter): (JobQueue, Reporter)
        if let address = try fleet.address() {
            hint.queue = fleet.queue
            reporter = try Composition.reporter(show)
            queue = try await Composition.queue(
                watching: [spec], on: address, lease: fleet.lease, limits: merged, configuration, hooks: show.hooks,
                reporter)
        } else {
            queue = try await Composition.queue(
                state: place ?? fleet.queue, limits: merged, configuration, hooks: show.hooks)
            reporter = try Composition.reporter(show)
        }
        let once = end.once ? WatchOnce(spec, waitsForWriters: end.deadline != nil) : nil
        let session = WatchSession(queue, reporter, folders: [spec.folder], once: once)
        var stops = Execution.StopRules()
        stops.deadline = end.deadline?.duration
        var execution = Execution(queue: queue, reporter: reporter, stops: stops)
        execution.watch = session
        execution.scratch = scratch
        execution.hint = hint
        execution.metrics = try Composition.metrics(show, configuration, of: queue, reporter)
        reporter.call([:], hint)
        if spec.settings.tls.insecure {
            reporter.note(
                .warn, "certificates are not checked: anyone on the path can read and change what is transferred")
        }
        // The signals are handled before the watch is reported: a reader of that line may end the process at once.
        execution.obeySignals()
        let batches = try await session.begin([spec])
        ExitStatus.exit(try await execution.run(batches, RunOptions()))
    }
}

/// The options of a watch on a shared queue.
struct WatchQueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The queue: a folder (as --state), or a PostgreSQL database that many machines share.",
            valueName: "dir|postgres://…"), transform: QueueAddress.text)
    var queue: String?

    @Option(
        help: ArgumentHelp(
            "With a database: without a sign of life for that time others upload this machine's files; at least 3s.",
            valueName: "30s"), transform: TimeSpan.read)
    var lease: TimeSpan?

    /// Returns the address of a shared queue.
    ///
    /// - Returns: `nil` for a queue of this machine.
    /// - Throws: `ValidationError`.
    func address() throws -> FleetAddress? {
        let address = try queue.flatMap { QueueAddress.isDatabase($0) ? try QueueAddress.database($0) : nil }
        if address == nil, let queue, queue.contains("://") {
            throw ValidationError("watch takes a folder or postgres://HOST/DATABASE as its --queue")
        }
        guard let lease else { return address }
        guard address != nil else { throw ValidationError("--lease goes with --queue postgres://HOST/DATABASE") }
        guard (.seconds(3) ... .seconds(3600)).contains(lease.duration) else {
            throw ValidationError("--lease takes 3s to 1h")
        }
        return address
    }
}

/// The options for files that the server has confirmed.
struct ConfirmedFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The action after the server has confirmed a file: keep (the default), move DIR, delete.",
            valueName: "keep|move dir|delete"), transform: ThenArgument.read)
    var then: ThenArgument?

    @Option(
        name: .customLong("keep-for"),
        help: ArgumentHelp(
            "The time for which a confirmed file stays before that action.", valueName: "7d"), transform: TimeSpan.read)
    var keepFor: TimeSpan?
}

/// The options for the files of a watched folder that are uploaded.
struct WatchedFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Upload only files that match this pattern, or another --include.", valueName: "glob"),
        transform: GlobArgument.read)
    var include: [GlobArgument] = []

    @Option(
        help: ArgumentHelp("Leave out files and sub-folders that match this pattern.", valueName: "glob"),
        transform: GlobArgument.read)
    var exclude: [GlobArgument] = []

    @Flag(help: "Watch sub-folders too.")
    var recursive = false

    var rules: WatchRules {
        WatchRules(include: include.map(\.pattern), exclude: exclude.map(\.pattern), isRecursive: recursive)
    }
}
