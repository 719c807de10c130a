import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

struct Run: AsyncParsableCommand, RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run batches of jobs to their end; the same command continues them later.",
        discussion: """
            A job file is .json, .jsonl (one job a line), .csv, .meta4 or .metalink (a Metalink), or a list of URLs. A \
            list is plain, aria2's with its options, or the file that curl --config takes. Standard input is -, and a \
            URL is fetched first.

            Complete files are kept, and incomplete files are continued. With folders to "watch" in a file, the \
            command runs until it is stopped, and reads its files again at a SIGHUP.
            """)

    @Argument(help: ArgumentHelp("Job files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The folder that relative paths start from.", valueName: "dir"),
        completion: .directory, transform: PathArgument.text)
    var directory: String?

    @Option(help: "The name of the batch, in place of the name in the file or the path of the file.")
    var name: String?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Check everything, print the plan, change nothing.")
    var dryRun = false

    @Flag(help: "Ask the servers whether complete files are still current.")
    var refresh = false

    @Flag(help: "Hash complete files again.")
    var verify = false

    @Flag(help: ArgumentHelp(StrictArgument.help))
    var strict = false

    @OptionGroup(title: "Attempts and limits") var waits: WaitOptions
    @OptionGroup(title: "Lists") var list: ListOptions
    @OptionGroup(title: "Lists") var metalink: MetalinkOptions
    @OptionGroup(title: "Requests") var coding: CodingOptions
    @OptionGroup(title: "Requests") var fields: FieldOptions
    @OptionGroup(title: "Logins, proxies and TLS") var login: LoginArguments
    @OptionGroup(title: "Logins, proxies and TLS") var proxy: ProxyOptions
    @OptionGroup(title: "Logins, proxies and TLS") var trust: TrustOptions
    @OptionGroup(title: "The queue") var configuration: ConfigurationOptions
    @OptionGroup(title: "Attempts and limits") var attempts: AttemptOptions
    @OptionGroup(title: "Attempts and limits") var limits: LimitOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Attempts and limits") var stops: StopOptions
    @OptionGroup(title: "The queue") var place: QueuePlaceOptions

    var state: StateOptions { place.state }

    func validate() throws {
        _ = try request.rules()
        if files.isEmpty { throw ValidationError("name a job file, or - for standard input") }
        if files.count > 1, name != nil { throw ValidationError("--name goes with one job file") }
        if files.contains("-"), name == nil { throw ValidationError("standard input needs --name") }
        try coding.check(request.segments)
        if files.contains("-"), files.count > 1 { throw ValidationError("- goes alone") }
        if case .database = try place.place() { return try FleetRun.check(self) }
        if waits.detach { throw ValidationError("--detach goes with --queue postgres://HOST/DATABASE") }
    }

    func run() async throws {
        if let client = try place.client() {
            ExitStatus.exit(try await ServiceVerbs(client: client).run(files, name: name))
        }
        if case .database(let address) = try place.place() {
            ExitStatus.exit(try await FleetRun(command: self, address: address).run())
        }
        try request.fields.checkFiles()
        var rules = try request.rulesOfFiles(isAsking: !dryRun)
        try coding.lay(over: &rules)
        rules.configuration = try request.configuration.load()
        if files == ["-"], !dryRun {
            let status = try await StandardInputRun(command: self, rules: rules).run()
            ExitStatus.exit(status)
        }
        let known = Composition.hooks(output.hooks, rules.configuration)
        let sources = try files.map { try JobFileSource($0, rules: rules, list: listRules, hooks: known) }
        if dryRun {
            return try DryRun(sources: sources, directory: workingFolder, name: name, state: state.state).run()
        }
        var plan = RunPlan(files: files, name: name, directory: workingFolder, rules: rules, list: listRules)
        (plan.hooks, plan.hook) = (known, output.hooks.hook)
        try plan.refuseTwins(sources)
        // The first file is read while the queue is opened.
        var begun = sources.first.map(plan.read)
        let queue = try await Composition.queue(
            state: state.state, limits: limits.merged(with: BatchLimits(), rules.configuration), rules.configuration,
            hooks: output.hooks)
        var batches: [StagedBatch] = []
        var commands: [String: String] = [:]
        var warnings: [String] = []
        var folders: [WatchSpec] = []
        var merged: BatchLimits?
        for source in sources {
            merged = merged ?? limits.merged(with: source.batch().limits, rules.configuration)
            let staged = try await stage(exchange(&begun, with: nil) ?? plan.read(source), plan, queue)
            commands[staged.batch.name] =
                RunAgain(
                    file: source.name, name: name, directory: directory, state: state.state, options: repeated,
                    isUTF8: state.hint.isUTF8
                ).command
            warnings += staged.warnings.map { "\(source.name): \($0)" }
            // A file that only watches has no jobs to report.
            if staged.batch.jobs > 0 || staged.folders.isEmpty { batches.append(staged.batch) }
            folders += staged.folders
        }
        if let conflict = RunPlan.conflict(folders) {
            await queue.close()
            throw Failure(.invalidJobFile, conflict)
        }
        var options = RunOptions()
        options.refresh = refresh
        options.verify = verify
        options.strict = strict
        options.limits = merged
        var execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(stops),
            commands: commands, hint: state.hint)
        execution.reporter.call([:], state.hint)
        execution.metrics = try Composition.metrics(output, rules.configuration, of: queue, execution.reporter)
        for warning in warnings { execution.reporter.note(.warn, warning) }
        if folders.isEmpty {
            // A service that watches folders may run such a file as well: its manager expects the notification of the
            // start, and signs of life.
            let service = ServiceManager(queue, folders: []) { "" }
            execution.followRotation(service)
            service?.running()
            let status = try await execution.run(batches, options)
            await service?.close()
            ExitStatus.exit(status)
        }
        let session = WatchSession(queue, execution.reporter, folders: folders.map(\.folder))
        execution.watch = session
        // The signals are handled before the watch is reported: a reader of that line may end the process, or hang up,
        // at once.
        execution.obeySignals()
        if let hangUps = hangUps(execution.reporter) {
            let reloader = RunReloader(
                plan: plan, configuration: request.configuration, limits: limits, queue: queue, session: session,
                reporter: execution.reporter)
            execution.companion = { await reloader.run(hangUps) }
        }
        batches += try await session.begin(folders)
        ExitStatus.exit(try await execution.run(batches, options))
    }

    /// The options of the command line that a later run needs as well.
    private var repeated: [String] {
        list.words + metalink.words + coding.words + request.words + limits.words
            + output.hooks.words
            + (refresh ? ["--refresh"] : [])
            + (verify ? ["--verify"] : [])
    }

    /// Returns the SIGHUPs from now on; `nil` on a terminal, where one means that the terminal is gone, and ends the
    /// run.
    private func hangUps(_ reporter: Reporter) -> AsyncStream<Void>? {
        guard isatty(STDERR_FILENO) == 0 else { return nil }
        let (hangUps, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        Signals.reload {
            reporter.reopenReport()
            continuation.yield()
        }
        return hangUps
    }

    /// The rules for reading the files.
    var listRules: ListRules {
        var rules = list.rules()
        rules.metalink = metalink.rules
        rules.documents = FetchedDocument(options: request.words, asksNoServer: dryRun)
        return rules
    }

    var workingFolder: String { Composition.absolute(directory ?? FileManager.default.currentDirectoryPath) }

    /// Adds a file's jobs to the queue, all or none; `--wait` waits for the process that has them.
    private func stage(
        _ reading: RunPlan.Reading, _ plan: RunPlan, _ queue: JobQueue
    ) async throws -> RunPlan.Staged {
        do {
            return try await plan.stage(reading, on: queue)
        } catch StagingError.held(let batch, let pid) {
            guard waits.wait else {
                let names = BatchNames(try await queue.batchRegister())
                await queue.close()
                let command = state.hint.command("wait", names.lasting(batch))
                throw Failure(
                    .workLeft, "\(names.short(batch)) is being run by process \(pid); wait for it with: \(command)")
            }
            reading.abandon()
            _ = try await Composition.remote(state: state.state).wait(batch: batch)
            return try await stage(plan.read(reading.source), plan, queue)
        } catch {
            await queue.close()
            throw error
        }
    }
}

extension Failure {
    /// Creates the failure of an invalid job file, and writes every fault with its place.
    init(report: JobFileReport, file: String) {
        StandardError.write(report.rendered(file: file))
        self.init(.invalidJobFile, "")
    }
}
