import TransferCore
import TransferQueue

/// Jobs from a command line, in a batch that is forgotten when all of it went well.
struct OneOff {
    let verb: String
    let folder: String
    let limits: LimitOptions
    let output: OutputOptions
    let state: String?
    var jobs: [JobSpec] = []
    /// Lists of more of them.
    var lists: [JobFileSource] = []
    /// Files that stand for standard input; they go when all went well.
    var spools: [StreamSpool] = []
    /// The file that standard output gets when it's whole.
    var result: StreamSpool?

    /// The same command again is the same batch: it goes on where it was.
    private var name: String {
        let firsts = jobs.prefix(1).map { Redaction.url(Self.firstURL($0)) } + lists.map(\.name)
        let more = jobs.count > 1 ? " +\(jobs.count - 1)" : ""
        return "\(verb) \(firsts.joined(separator: " "))\(more) in \(folder)"
    }

    func run() async throws -> ExitStatus {
        let queue = try await Composition.queue(state: state, limits: limits.merged(with: BatchLimits()))
        let reports = lists.map { _ in ReportBox() }
        let batch: StagedBatch
        do {
            batch = try await queue.stage(name: name, source: nil, directory: folder) { [jobs, lists, folder] take in
                for job in jobs { try take(job, nil) }
                var isInOrder = true
                for (list, report) in zip(lists, reports) {
                    report.set(try Self.read(list, folder) { spec, place in try take(spec, place) })
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
            throw Failure(.wrongUsage, report.faults.map(\.message).joined(separator: "; "))
        }
        let execution = Execution(
            queue: queue, reporter: try Composition.reporter(output), stops: Execution.StopRules(),
            hint: CommandHint(state: state))
        for warning in reports.flatMap(\.report.warnings) { execution.reporter.note(.warn, warning) }
        let trusting = jobs.count { $0.settings.tls.insecure }
        if trusting > 0 { execution.reporter.note(.warn, JobFileReport.trusting(jobs: trusting)) }
        var options = RunOptions()
        options.marksFiles = result == nil
        let status = try await execution.run([batch], options)
        guard status == .complete else { return status }
        // Before the batch is forgotten: whose reader went away can have the file still.
        try result?.empty()
        result?.remove()
        for spool in spools { spool.remove() }
        _ = try? Composition.remote(state: state).forget(name: name, endedBefore: nil)
        return status
    }

    /// What a run would do; no server is asked.
    ///
    /// - Throws: `Failure` with every fault of a list told.
    func printPlan() throws {
        let plan = JobPlan(directory: folder)
        var isFaulty = false
        for job in jobs { print("  " + plan.line(job)) }
        for list in lists {
            let report = try Self.read(list, folder) { spec, _ in print("  " + plan.line(spec)) }
            guard !report.isEmpty else { continue }
            isFaulty = true
            StandardError.write(report.rendered(file: list.name))
        }
        if isFaulty { throw Failure(.invalidJobFile, "") }
    }

    private static func read(
        _ list: JobFileSource, _ folder: String, _ take: (JobSpec, JobLocations) throws -> Void
    ) throws -> JobFileReport {
        var watched: [JobFileFault] = []
        var report = try list.read(directory: folder) { _, place in
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
