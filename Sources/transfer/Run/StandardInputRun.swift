import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// Jobs from standard input: each starts as soon as its line is there, and a bad line is a failed job.
struct StandardInputRun {
    let command: Run
    let rules: RequestRules

    func run() async throws -> ExitStatus {
        let queue = try await Composition.queue(
            state: command.state.state, limits: command.limits.merged(with: BatchLimits(), rules.configuration),
            rules.configuration, hooks: command.output.hooks)
        let reporter = try Composition.reporter(command.output)
        let faults = InputFaults(queue)
        var execution = Execution(
            queue: queue, reporter: reporter, stops: Execution.StopRules(command.stops), hint: command.state.hint,
            inputFaults: faults)
        execution.metrics = try Composition.metrics(command.output, rules.configuration, of: queue, reporter)
        let name = command.name ?? "-"
        execution.commands[name] = SameCommand.words
        let folder = command.workingFolder
        let first = try await stage([], name, folder, queue)
        await queue.setFeeding(true)
        // What is told before anybody listens is lost.
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        queue.observe { if case .batchStarted = $0.kind { begun.finish() } }
        let feeding = Task.detached {
            for await _ in begins {}
            try await feed(name, folder, queue, faults, reporter)
        }
        var options = RunOptions()
        options.refresh = command.refresh
        options.verify = command.verify
        options.strict = command.strict
        let status = try await execution.run([first], options)
        feeding.cancel()
        return status
    }

    /// Nothing but the command line says it before the first job comes.
    private var hook: BatchHook? { command.output.hooks.hook.map { BatchHook($0, settings: rules.settings) } }

    /// Reads to the end, blocking a thread of its own between chunks.
    private func feed(
        _ name: String, _ folder: String, _ queue: JobQueue, _ faults: InputFaults, _ reporter: Reporter
    ) async throws {
        var reported = 0
        let list = command.listRules
        // A chunk is taken in by itself, so that nothing else compares its jobs with the earlier ones.
        let names = DestinationNames(list.collisions, directory: folder, isAlone: true)
        let here = Composition.workingFolder
        var reader = JobFileReader(
            format: list.format, rules: rules, metalink: list.metalink, names: names,
            workingFolder: here == folder ? nil : here, sums: JobFileSource.sums(list.documents))
        while !Task.isCancelled {
            let chunk = await Self.readChunk()
            var jobs: [(JobSpec, JobLocations)] = []
            var found: [JobFileFault] = []
            let take: (JobFileElement) -> Void = { element in
                switch element {
                case .job(let spec, let place): jobs.append((spec, place))
                case .fault(let fault): found.append(fault)
                case .watch(_, let place):
                    found.append(place.folderFault("folders are watched by a job file, not by standard input"))
                case .batch(let batch): queue.setLimits(command.limits.merged(with: batch.limits, rules.configuration))
                }
            }
            if chunk.isEmpty { _ = try reader.finish(into: take) } else { try reader.feed(chunk, into: take) }
            // What was left out of a list is known at its end.
            let warnings = reader.report.warnings
            if chunk.isEmpty || reader.report.trustingCount > 0 {
                let news = warnings.dropFirst(reported).prefix(chunk.isEmpty ? warnings.count : max(0, 1 - reported))
                for warning in news { reporter.note(.warn, warning) }
                reported += news.count
            }
            if chunk.isEmpty, reader.report.jobCount == 0, reader.report.isEmpty {
                // A list that a script left empty isn't one whose work is done.
                let span = SourceSpan(line: 1, column: 1)
                found.append(JobFileFault(message: "there is no job in it", path: "", span: span))
            }
            for fault in found { await faults.add(fault, batch: name) }
            if !jobs.isEmpty { try await add(jobs, name, folder, queue, faults) }
            if chunk.isEmpty { break }
        }
        await queue.setFeeding(false)
    }

    private func add(
        _ jobs: [(JobSpec, JobLocations)], _ name: String, _ folder: String, _ queue: JobQueue, _ faults: InputFaults
    ) async throws {
        do {
            await queue.begin(try await stage(jobs, name, folder, queue))
        } catch StagingError.faults(let report) {
            // One of them collides with another: each on its own, so that the others still go.
            guard jobs.count > 1 else {
                for fault in report.faults { await faults.add(fault, batch: name) }
                return
            }
            for job in jobs { try await add([job], name, folder, queue, faults) }
        }
    }

    private func stage(
        _ jobs: [(JobSpec, JobLocations)], _ name: String, _ folder: String, _ queue: JobQueue
    ) async throws -> StagedBatch {
        do {
            return try await queue.stage(
                name: name, source: nil, directory: folder, keepsWhatIsMissing: true, onFinish: hook
            ) { take in
                for (spec, place) in jobs { try take(spec, place) }
                return true
            }
        } catch StagingError.held(let batch, let pid) {
            throw Failure(.workLeft, "\(batch) is being run by process \(pid)")
        }
    }

    private static func readChunk() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            inputWorker.execute { continuation.resume(returning: readStandardInput()) }
        }
    }

    private static let inputWorker = WorkerPool(name: "input", threads: 1)

    private static func readStandardInput() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count >= 0 { return Array(buffer[..<count]) }
            guard errno == EINTR else { return [] }
        }
    }
}
