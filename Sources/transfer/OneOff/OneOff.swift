import TransferCore
import TransferCrypto
import TransferQueue

/// The jobs of a command line, in a batch that is forgotten after a complete success.
struct OneOff {
    let verb: String
    let folder: String
    let limits: LimitOptions
    let output: OutputOptions
    let state: String?
    /// The workers that do the jobs; `nil` where this process does them.
    var fleet: FleetOneOff?
    /// The configuration, which the options override.
    var configuration = Configuration()
    var jobs: [JobSpec] = []
    /// The job files whose jobs join the batch.
    var lists: [JobFileSource] = []
    /// The rule for two files of one name.
    var collisions: Collisions?
    /// The spools of standard input, which are removed once all jobs are complete.
    var spools: [StreamSpool] = []
    /// The words behind a spool's path in the command that sends it.
    var again: [String] = []
    /// The spools that are copied to standard output, in this order, when their files are whole.
    var results: [StreamSpool] = []
    /// The spools whose files are not read.
    var discarded: [StreamSpool] = []
    /// The spool of the cookies from standard input, which ``discarded`` has, too.
    var cookies: StreamSpool?
    /// Whether the words are another tool's: standard output then gets the answers to uploads, and whole files even
    /// where others failed.
    var isFront = false
    /// The completed jobs.
    let receipts = FrontReceipts()
    /// The Metalinks that come in place of files.
    let found = FoundMetalinks()
    /// Whether the caller fetches the files of such Metalinks.
    var follows = false

    /// Returns the name of the batch: the same command again continues the same batch, and another command makes
    /// another one.
    private func name() throws -> String {
        let firsts = jobs.prefix(1).map { Redaction.url(Self.firstURL($0)) } + lists.map(\.name)
        var name = "\(verb) \(firsts.joined(separator: " "))"
        if jobs.count > 1 { name += " +\(jobs.count - 1)" }
        // The digest covers what the words do not distinguish: other URLs and files, other lists from standard input.
        let digest = try Digest(.sha256)
        for job in jobs {
            Array((job.urls + [job.work.path]).joined(separator: "\n").utf8).withUnsafeBytes(digest.update)
        }
        for list in lists where list.name == "-" { list.bytes.withBytes(digest.update) }
        let isNamedByMore =
            jobs.count > 1 || lists.contains { $0.name == "-" }
            || verb == "get" && jobs.contains { $0.work.path != "./" }
        if isNamedByMore { name += try " #\(digest.finish().hex.prefix(6))" }
        return "\(name) in \(fleet == nil ? folder : "/" + folder)"
    }

    func run() async throws -> ExitStatus {
        let name = try name()
        if let fleet { return try await fleet.run(self, name: name) }
        let queue = try await Composition.queue(
            state: state, limits: limits.merged(with: BatchLimits(), configuration), configuration, hooks: output.hooks)
        let hook = output.hooks.onlyHook.map { BatchHook($0, settings: jobs.first?.settings ?? JobSettings()) }
        for spool in spools + results + discarded { try spool.note(batch: name) }
        // Each run of the line reads them anew.
        defer { cookies?.remove() }
        let (batch, reports) = try await stage(on: queue, name: name, hook: hook)
        var execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(),
            hint: Composition.hint(state: state))
        // The spool's command is reported together with the spool.
        if spools.isEmpty {
            execution.commands[name] =
                isFront
                ? SameCommand.words
                : SameCommand.command(Array(CommandLine.arguments.dropFirst()), isUTF8: execution.hint.isUTF8)
        }
        execution.metrics = try Composition.metrics(output, configuration, of: queue, execution.reporter)
        for (list, report) in zip(lists, reports) {
            for warning in report.report.warnings { execution.reporter.note(.warn, "\(list.name): \(warning)") }
        }
        let trusting = jobs.count { $0.settings.tls.insecure }
        if trusting > 0 { execution.reporter.note(.warn, JobFileReport.trusting(jobs: trusting)) }
        var options = RunOptions()
        options.marksFiles = results.isEmpty
        queue.observe { [found, receipts, isFront] in
            found.note($0)
            if isFront { receipts.note($0) }
        }
        let status = try await execution.run([batch], options)
        if isFront { try printWhole() }
        guard status == .complete else {
            try await settleSpools(name, execution)
            return status
        }
        // A file that was not read completely must not be taken for that of the next command.
        defer {
            if found.receipts.isEmpty || !follows { for result in results { result.remove() } }
            for spool in spools + discarded { spool.remove() }
            if let remote = try? Composition.remote(state: state) {
                _ = try? remote.forget(name: name, endedBefore: nil)
                // The sent file may have been the spool of another run.
                try? SpoolFolder.sweep(remote, state: state)
            }
        }
        if !isFront, found.receipts.isEmpty || !follows {
            for result in results { try result.deliver() }
        }
        return status
    }

    /// Adds the jobs to a queue, all or none.
    ///
    /// - Returns: The batch, and the report on each list.
    /// - Throws: `Failure` after every fault was reported.
    func stage(on queue: JobQueue, name: String, hook: BatchHook?) async throws -> (StagedBatch, [ReportBox]) {
        let reports = lists.map { _ in ReportBox() }
        do {
            let batch = try await queue.stage(
                name: name, source: nil, directory: base, onFinish: hook
            ) { [jobs, lists, base, collisions, prefix] take in
                let names = DestinationNames(collisions, directory: base)
                for job in jobs { if let job = names.named(Self.job(job, beneath: prefix)) { try take(job, nil) } }
                var isInOrder = true
                for (list, report) in zip(lists, reports) {
                    var last = 0
                    let read = try Self.read(list, base, names) { spec, place in
                        last = max(place.job.line, place.to.line, place.needs.last?.line ?? 0)
                        try take(Self.job(spec, beneath: prefix), place)
                    }
                    report.set(read, lastLine: last)
                    isInOrder = isInOrder && report.report.isEmpty
                }
                return isInOrder
            }
            return (batch, reports)
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
    }

    /// The folder in which relative paths begin. The machine that will do a job of a shared queue is unknown, so they
    /// begin in each worker's folder.
    private var base: String { fleet == nil ? folder : "/" }
    /// The folder of downloads beneath the worker's folder.
    private var prefix: String { fleet == nil ? "" : folder }

    /// Writes the files that are whole, and the answers to uploads.
    private func printWhole() throws {
        for result in results where result.isFilled { try result.deliver() }
        receipts.writeAnswers()
    }

    /// Returns the faults that appear when all jobs are together, each with its list and line where these are known.
    ///
    /// - Parameter lastLines: The last lines of the lists.
    private func refusal(_ report: JobFileReport, _ lastLines: [Int]) -> Failure {
        var others: [String] = []
        for fault in report.faults {
            // A job of the command line has no line.
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

    /// Reports the place of standard input that has not been sent; cancelled input is removed.
    private func settleSpools(_ name: String, _ execution: Execution) async throws {
        guard !spools.isEmpty else { return }
        if try Composition.remote(state: state).isOver(name) {
            for spool in spools { spool.remove() }
            return
        }
        for spool in spools {
            let command = CommandHint(state: state).command(
                "put", spool.path, again.first ?? "URL", options: Array(again.dropFirst()))
            let way = again.contains(where: Redaction.hasSecret) ? "" : "; \(command) continues it"
            execution.reporter.note(.warn, "standard input is kept in \(spool.path)\(way)")
        }
    }

    /// Prints what a run would do; no server is asked.
    ///
    /// - Throws: `Failure` after every fault of a list was reported.
    func printPlan() throws {
        let plan = JobPlan(directory: base)
        var isFaulty = false
        let names = DestinationNames(collisions, directory: base)
        for job in jobs { if let job = names.named(Self.job(job, beneath: prefix)) { print("  " + plan.line(job)) } }
        var listed = ListedJobs()
        for list in lists {
            let report = try Self.read(list, base, names) { spec, place in
                if !listed.notes(spec, place) { print("  " + plan.line(Self.job(spec, beneath: prefix))) }
            }
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

    /// Returns the job with its relative destination in the folder of downloads.
    private static func job(_ job: JobSpec, beneath folder: String) -> JobSpec {
        guard !folder.isEmpty, case .download(var download) = job.work, !download.destination.hasPrefix("/") else {
            return job
        }
        var name = download.destination[...]
        while name.hasPrefix("./") { name = name.dropFirst(2) }
        download.destination = folder + (folder.hasSuffix("/") ? "" : "/") + name
        var job = job
        job.work = .download(download)
        return job
    }
}
