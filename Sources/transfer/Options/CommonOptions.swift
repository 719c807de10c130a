import ArgumentParser
import TransferCore
import TransferQueue

/// The option for the place of the queue.
struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder of the queue's state.", valueName: "dir"), completion: .directory,
        transform: PathArgument.text)
    var state: String?

    var hint: CommandHint { Composition.hint(state: state) }
}

/// The options for the output of a run.
struct OutputOptions: ParsableArguments {
    enum Progress: String, ExpressibleByArgument, CaseIterable { case auto, bar, plain, none }

    @Option(help: "The form of the progress display: auto, bar, plain or none.")
    var progress = Progress.auto

    @Flag(
        name: .customLong("json"),
        help: "Write events to standard output, as JSON Lines. --json=progress adds the progress of each job.")
    var json = false

    @Flag(name: .customLong("json-progress"), help: .hidden)
    var jsonProgress = false

    @Flag(name: .shortAndLong, help: "Report only failures, and waits that need a person.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Report successes too.")
    var verbose = false

    @Option(
        help: ArgumentHelp("Append a line to this file for the end of each job, as JSON Lines.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var report: String?

    @Option(
        name: .customLong("metrics-file"),
        help: ArgumentHelp(
            "Write metrics to this file in Prometheus' text format, every 15 s and at the end. Its name ends in .prom, "
                + "as the node exporter requires.", valueName: "file.prom"), transform: MetricsPath.read)
    var metricsFile: MetricsPath?

    @OptionGroup var hooks: HookOptions
}

/// The options for concurrency and rates.
struct LimitOptions: ParsableArguments {
    @Option(
        name: [.customShort("j"), .long], help: ArgumentHelp("The number of transfers at once.", valueName: "n"),
        transform: WholeNumber.reader(FieldRanges.concurrencies))
    var concurrency: Int?

    @Option(
        name: .customLong("per-host"),
        help: ArgumentHelp(
            "The number of transfers at once to one host, or auto. auto starts with 10 and adds more, up to 64, while "
                + "they increase the throughput.", valueName: "n"),
        transform: PerHostArgument.read)
    var perHost: PerHostArgument?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp("The bytes a second of all transfers together, with K, M or G.", valueName: "rate"),
        transform: RateArgument.read)
    var limitRate: RateArgument?

    mutating func validate() throws {
        _ = try EnvironmentRules.batchLimits()
    }

    /// The given options, for another command line.
    var words: [String] {
        var words: [String] = []
        if let concurrency { words += ["-j", "\(concurrency)"] }
        if let perHost { words += ["--per-host", perHost.written] }
        if let limitRate { words += ["--limit-rate", "\(limitRate.bytes)"] }
        return words
    }

    /// Returns these limits where they are given, otherwise those of the environment, of the job file and of the
    /// configuration.
    func merged(with file: BatchLimits, _ configuration: Configuration) -> BatchLimits {
        // The variables were validated with the options.
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

/// The options for stopping before the end.
struct StopOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Stop after this time; a later run continues.", valueName: "30m"), transform: TimeSpan.read)
    var deadline: TimeSpan?

    @Flag(name: .customLong("fail-fast"), help: "Stop at the first job that fails.")
    var failFast = false

    @Option(
        name: .customLong("max-failures"),
        help: ArgumentHelp("Stop when more jobs than this have failed.", valueName: "n|n%"),
        transform: FailureBound.read)
    var maxFailures: FailureBound?
}
