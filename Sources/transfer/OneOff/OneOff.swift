import TransferCore
import TransferCrypto
import TransferQueue

/// Jobs from a command line, in a batch that is forgotten when all of it went well.
struct OneOff {
    let verb: String
    let folder: String
    let limits: LimitOptions
    let output: OutputOptions
    let state: String?
    /// Stands behind the options.
    var configuration = Configuration()
    var jobs: [JobSpec] = []
    /// Job files whose jobs join the batch.
    var lists: [JobFileSource] = []
    /// What becomes of two files of one name.
    var collisions: Collisions?
    /// Spools of standard input; they are removed once all jobs are complete.
    var spools: [StreamSpool] = []
    /// The words behind a spool's path in the command that sends it.
    var again: [String] = []
    /// The spool that standard output gets when its file is whole.
    var result: StreamSpool?
    /// Takes note of the Metalinks that come in place of files.
    let found = FoundMetalinks()
    /// Whether they are followed by whoever asks for them.
    var follows = false

    /// The same command again is the same batch, and another command is another one: it goes on where it was.
    private func name() throws -> String {
        let firsts = jobs.prefix(1).map { Redaction.url(Self.firstURL($0)) } + lists.map(\.name)
        var name = "\(verb) \(firsts.joined(separator: " "))"
        if jobs.count > 1 { name += " +\(jobs.count - 1)" }
        // What the words don't tell apart: other URLs and files, other lists from standard input.
        let digest = try Digest(.sha256)
        for job in jobs {
            Array((job.urls + [job.work.path]).joined(separator: "\n").utf8).withUnsafeBytes(digest.update)
        }
        for list in lists where list.name == "-" { list.bytes.withBytes(digest.update) }
        let isNamedByMore =
            jobs.count > 1 || lists.contains { $0.name == "-" }
            || verb == "get" && jobs.contains { $0.work.path != "./" }
        if isNamedByMore { name += try " #\(digest.finish().hex.prefix(6))" }
        return "\(name) in \(folder)"
    }

    func run() async throws -> ExitStatus {
        let name = try name()
        let queue = try await Composition.queue(
            state: state, limits: limits.merged(with: BatchLimits(), configuration), configuration, hooks: output.hooks)
        let hook = output.hooks.onlyHook.map { BatchHook($0, settings: jobs.first?.settings ?? JobSettings()) }
        for spool in spools + [result].compactMap(\.self) { try spool.note(batch: name) }
        let reports = lists.map { _ in ReportBox() }
        let batch: StagedBatch
        do {
            batch = try await queue.stage(name: name, source: nil, directory: folder, onFinish: hook) {
                [jobs, lists, folder, collisions] take in
                let names = DestinationNames(collisions, directory: folder)
                for job in jobs { if let job = names.named(job) { try take(job, nil) } }
                var isInOrder = true
                for (list, report) in zip(lists, reports) {
                    var last = 0
                    let read = try Self.read(list, folder, names) { spec, place in
                        last = max(place.job.line, place.to.line, place.needs.last?.line ?? 0)
                        try take(spec, place)
                    }
                    report.set(read, lastLine: last)
                    isInOrder = isInOrder && report.report.isEmpty
                }
                return isInOrder
            }
        } catch StagingError.held(_, let pid) {
            throw Failure(.workLeft, "the same is being done by process \(pid)")
        } catch StagingError.refused {
            for (list, report) in zip(lists, reports) where !report.report.isEmpty {
                StandardError.write(report.report.rendered(file: list.name))
            }
            throw Failure(.invalidJobFile, "")
        } catch StagingError.faults(let report) {
            throw refusal(report, reports.map(\.lastLine))
        }
        var execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(),
            hint: Composition.hint(state: state))
        // What standard input brought is told with its spool.
        if spools.isEmpty {
            execution.commands[name] = SameCommand.command(
                Array(CommandLine.arguments.dropFirst()), isUTF8: execution.hint.isUTF8)
        }
        execution.metrics = try Composition.metrics(output, configuration, of: queue, execution.reporter)
        for (list, report) in zip(lists, reports) {
            for warning in report.report.warnings { execution.reporter.note(.warn, "\(list.name): \(warning)") }
        }
        let trusting = jobs.count { $0.settings.tls.insecure }
        if trusting > 0 { execution.reporter.note(.warn, JobFileReport.trusting(jobs: trusting)) }
        var options = RunOptions()
        options.marksFiles = result == nil
        queue.observe { [found] in found.note($0) }
        let status = try await execution.run([batch], options)
        guard status == .complete else {
            try await settleSpools(name, execution)
            return status
        }
        // A file that nobody read any more isn't the one that the next command asks for.
        defer {
            if found.receipts.isEmpty || !follows { result?.remove() }
            for spool in spools { spool.remove() }
            if let remote = try? Composition.remote(state: state) {
                _ = try? remote.forget(name: name, endedBefore: nil)
                // What is sent may have been the spool of another run.
                try? SpoolFolder.sweep(remote, state: state)
            }
        }
        if found.receipts.isEmpty || !follows { try result?.copyToStandardOutput() }
        return status
    }

    /// Faults that show when all jobs are together: each with its list and line, as far as those can be told.
    ///
    /// - Parameter lastLines: The lists' ones.
    private func refusal(_ report: JobFileReport, _ lastLines: [Int]) -> Failure {
        var others: [String] = []
        for fault in report.faults {
            // A job of the command line stands nowhere.
            let isPlaced = fault.span != SourceSpan(line: 1, column: 1)
            let files = isPlaced ? zip(lists, lastLines).filter { $1 >= fault.span.line }.map(\.0.name) : []
            if files.isEmpty {
                others.append(fault.message)
            } else {
                StandardError.write(fault.rendered(file: files.joined(separator: " or ")))
            }
        }
        guard others.isEmpty else { return Failure(.wrongUsage, others.joined(separator: "; ")) }
        if lists.count == 1, jobs.isEmpty { StandardError.write(report.summary(file: lists[0].name) + "\n") }
        return Failure(.invalidJobFile, "")
    }

    /// Says where standard input is that hasn't arrived; of what was cancelled nothing is kept.
    private func settleSpools(_ name: String, _ execution: Execution) async throws {
        guard !spools.isEmpty else { return }
        if try Composition.remote(state: state).isOver(name) {
            for spool in spools { spool.remove() }
            return
        }
        for spool in spools {
            let command = CommandHint(state: state).command(
                "put", spool.path, again.first ?? "URL", options: Array(again.dropFirst()))
            let way = again.contains(where: Redaction.hasSecret) ? "" : "; \(command) goes on with it"
            execution.reporter.note(.warn, "standard input is kept in \(spool.path)\(way)")
        }
    }

    /// What a run would do; no server is asked.
    ///
    /// - Throws: `Failure` with every fault of a list told.
    func printPlan() throws {
        let plan = JobPlan(directory: folder)
        var isFaulty = false
        let names = DestinationNames(collisions, directory: folder)
        for job in jobs { if let job = names.named(job) { print("  " + plan.line(job)) } }
        for list in lists {
            let report = try Self.read(list, folder, names) { spec, _ in print("  " + plan.line(spec)) }
            guard !report.isEmpty else {
                for warning in report.warnings { StandardError.write("\(list.name): warning: \(warning)\n") }
                continue
            }
            isFaulty = true
            StandardError.write(report.rendered(file: list.name))
        }
        if isFaulty { throw Failure(.invalidJobFile, "") }
    }

    private static func read(
        _ list: JobFileSource, _ folder: String, _ names: DestinationNames,
        _ take: (JobSpec, JobLocations) throws -> Void
    ) throws -> JobFileReport {
        var watched: [JobFileFault] = []
        var report = try list.read(directory: folder, names: names) { _, place in
            watched.append(place.folderFault("`transfer run` watches folders"))
        } _: { spec, place in
            try take(spec, place)
        }
        for fault in watched { report.add(fault) }
        return report
    }

    private static func firstURL(_ job: JobSpec) -> String {
        switch job.work {
        case .download(let download): download.urls[0]
        case .upload(let upload): upload.url
        }
    }
}
