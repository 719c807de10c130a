import ArgumentParser
import TransferCore
import TransferQueue

/// Where the queue is.
struct StateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the queue's state.", valueName: "dir"), transform: PathArgument.text)
    var state: String?

    var hint: CommandHint { Composition.hint(state: state) }
}

/// What a run shows.
struct OutputOptions: ParsableArguments {
    enum Progress: String, ExpressibleByArgument, CaseIterable { case auto, bar, plain, none }

    @Option(help: "How progress is shown: auto, bar, plain or none.")
    var progress = Progress.auto

    @Flag(
        name: .customLong("json"),
        help: "Write events to standard output, as JSON Lines; --json=progress adds the progress of each job.")
    var json = false

    @Flag(name: .customLong("json-progress"), help: .hidden)
    var jsonProgress = false

    @Flag(name: .shortAndLong, help: "Say only what failed.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say also what succeeded.")
    var verbose = false

    @Option(
        help: ArgumentHelp("Append the end of each job to this file, as JSON Lines.", valueName: "file"),
        transform: PathArgument.text)
    var report: String?

    @Option(
        name: .customLong("metrics-file"),
        help: ArgumentHelp(
            "Write metrics to this file in Prometheus' text form, every 15 s and at the end; its name ends in .prom, as "
                + "the node exporter wants it.", valueName: "file.prom"), transform: MetricsPath.read)
    var metricsFile: MetricsPath?

    @OptionGroup var hooks: HookOptions
}

/// How much at once.
struct LimitOptions: ParsableArguments {
    @Option(
        name: [.customShort("j"), .long], help: ArgumentHelp("Transfers at once.", valueName: "n"),
        transform: WholeNumber.reader(FieldRanges.concurrencies))
    var concurrency: Int?

    @Option(
        name: .customLong("per-host"),
        help: ArgumentHelp(
            "Transfers at once to one host, or auto: as many as pay, 10 at first and 64 at most.", valueName: "n"),
        transform: PerHostArgument.read)
    var perHost: PerHostArgument?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp("Bytes a second for all together, with K, M or G.", valueName: "rate"),
        transform: RateArgument.read)
    var limitRate: RateArgument?

    mutating func validate() throws {
        _ = try EnvironmentRules.batchLimits()
    }

    /// The options that were given, to be given again.
    var words: [String] {
        var words: [String] = []
        if let concurrency { words += ["-j", "\(concurrency)"] }
        if let perHost { words += ["--per-host", perHost.written] }
        if let limitRate { words += ["--limit-rate", "\(limitRate.bytes)"] }
        return words
    }

    /// These where they are given, else those of the environment, of the job file and of the configuration.
    func merged(with file: BatchLimits, _ configuration: Configuration) -> BatchLimits {
        // The variables were checked with the options.
        let given = (try? EnvironmentRules.batchLimits()) ?? BatchLimits()
        let standing = configuration.limits
        var limits = BatchLimits()
        limits.concurrency = concurrency ?? given.concurrency ?? file.concurrency ?? standing.concurrency
        limits.perHost = perHost?.value ?? given.perHost ?? file.perHost ?? standing.perHost
        limits.limitRate = limitRate?.bytes ?? given.limitRate ?? file.limitRate ?? standing.limitRate
        limits.requestRate = file.requestRate ?? standing.requestRate
        limits.origins = standing.origins
        return limits
    }
}

/// When to stop before the end.
struct StopOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Stop after this long; a later run continues.", valueName: "30m"), transform: TimeSpan.read)
    var deadline: TimeSpan?

    @Flag(name: .customLong("fail-fast"), help: "Stop at the first job that fails.")
    var failFast = false

    @Option(
        name: .customLong("max-failures"),
        help: ArgumentHelp("Stop when more jobs than this have failed.", valueName: "n|n%"),
        transform: FailureBound.read)
    var maxFailures: FailureBound?
}
