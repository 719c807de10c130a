import ArgumentParser
import FoundationEssentials
import TransferCore
import TransferQueue

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run batches of jobs to their end; the same command again continues.",
        discussion: """
            A job file is .json, .jsonl (a job a line) or .txt (aria2's list); - is standard input.
            What was complete is kept, what was half done goes on where it was.
            """)

    @Argument(help: ArgumentHelp("Job files, or - for standard input.", valueName: "file"))
    var files: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("The folder that relative paths start from.", valueName: "dir"))
    var directory: String?

    @Option(help: "The batch's name, instead of the one in the file or the file's path.")
    var name: String?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Check everything, print the plan, change nothing.")
    var dryRun = false

    @Flag(help: "Ask the servers whether complete files are still the newest.")
    var refresh = false

    @Flag(help: "Hash complete files again.")
    var verify = false

    @Flag(help: "When another process runs the batch, wait for its end first.")
    var wait = false

    @OptionGroup var limits: LimitOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var stops: StopOptions
    @OptionGroup var state: StateOptions

    mutating func validate() throws {
        if files.isEmpty { throw ValidationError("name a job file, or - for standard input") }
        if files.count > 1, name != nil { throw ValidationError("--name goes with one job file") }
        if files.contains("-"), name == nil { throw ValidationError("standard input needs --name") }
        if files.contains("-"), files.count > 1 { throw ValidationError("- goes alone") }
    }

    func run() async throws {
        if dryRun { return try DryRun(files: files, directory: workingFolder, name: name, state: state.state).run() }
        Composition.raiseDescriptorLimit()
        if files == ["-"] {
            let status = try await StandardInputRun(command: self).run()
            ExitStatus.exit(status)
        }
        let sources = try files.map { try JobFileSource($0) }
        let queue = try await JobQueue.open(try Composition.configuration(state: state.state))
        var batches: [StagedBatch] = []
        var merged: BatchLimits?
        for source in sources {
            let spec = source.batch()
            merged = merged ?? limits.merged(with: spec.limits)
            let batch = name ?? spec.name ?? source.realPath
            batches.append(try await stage(source, as: batch, queue))
        }
        var options = RunOptions()
        options.refresh = refresh
        options.verify = verify
        options.limits = merged
        let names = Dictionary(zip(batches.map(\.name), files)) { first, _ in first }
        let execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(stops), sources: names)
        ExitStatus.exit(try await execution.run(batches, options))
    }

    var workingFolder: String { Composition.absolute(directory ?? FileManager.default.currentDirectoryPath) }

    /// Takes a file's jobs into the queue, all or none.
    private func stage(_ source: JobFileSource, as batch: String, _ queue: JobQueue) async throws -> StagedBatch {
        let outcome = ReportBox()
        let folder = workingFolder
        do {
            return try await queue.stage(name: batch, source: source.realPath, directory: folder) { take in
                let report = try source.read { spec, place in try take(spec, place) }
                outcome.set(report)
                return report.isEmpty
            }
        } catch StagingError.held where wait {
            _ = try await Composition.remote(state: state.state).wait(batch: batch)
            return try await stage(source, as: batch, queue)
        } catch let error as StagingError {
            await queue.close()
            switch error {
            case .refused: throw Failure(report: outcome.report, file: source.name)
            case .faults(let report): throw Failure(report: report, file: source.name)
            case .held(let batch, let pid):
                throw Failure(
                    .workLeft, "\(batch) is being run by process \(pid); wait for it with: transfer wait \(batch)")
            }
        }
    }
}

extension Failure {
    /// An invalid job file: every fault where it is.
    init(report: JobFileReport, file: String) {
        StandardError.write(report.rendered(file: file))
        self.init(.invalidJobFile, "")
    }
}
