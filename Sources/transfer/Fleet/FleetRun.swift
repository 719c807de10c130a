import ArgumentParser
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// The command `transfer run FILE… --queue postgres://…`: it adds the jobs to the queue, whose workers do them, and
/// shows their progress.
struct FleetRun {
    let command: Run
    let address: FleetAddress

    /// Refuses options about the transfers of this process, as other processes do the jobs.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ command: Run) throws {
        var foreign: [String] = []
        if command.refresh { foreign.append("--refresh") }
        if command.verify { foreign.append("--verify") }
        if command.strict { foreign.append("--strict") }
        if command.waits.wait { foreign.append("--wait") }
        if command.limits.concurrency != nil { foreign.append("-j") }
        if command.limits.perHost != nil { foreign.append("--per-host") }
        if command.limits.limitRate != nil { foreign.append("--limit-rate") }
        if command.output.metricsFile != nil { foreign.append("--metrics-file") }
        guard foreign.isEmpty else {
            throw ValidationError(
                "\(foreign.joined(separator: ", ")): with --queue postgres://… workers transfer, so transfer work takes that"
            )
        }
        if command.stops.deadline != nil || command.stops.failFast || command.stops.maxFailures != nil {
            throw ValidationError(
                "a run does not stop workers: --deadline, --fail-fast and --max-failures go without --queue")
        }
        if command.output.hooks.hook != nil {
            throw ValidationError(
                "--on-finish would have other machines run a command or ask a server, which workers refuse: without it, "
                    + "the end of \"transfer run\" or \"transfer wait\" shows that all jobs have ended")
        }
        if command.files == ["-"] { throw ValidationError("a queue in a database takes files, not standard input") }
    }

    func run() async throws -> ExitStatus {
        try command.request.fields.checkFiles()
        var rules = try command.request.rulesOfFiles(isAsking: !command.dryRun)
        try command.coding.lay(over: &rules)
        rules.configuration = try command.request.configuration.load()
        let known = Composition.hooks(command.output.hooks, rules.configuration)
        let sources = try command.files.map { file in
            try JobFileSource(file, rules: rules, list: command.listRules, hooks: known)
        }
        if command.dryRun {
            try DryRun(
                sources: sources, directory: command.workingFolder, name: command.name, state: nil, isShared: true
            ).run()
            return .complete
        }
        // The machine that will do a job is unknown: relative paths begin in each worker's folder.
        var plan = RunPlan(
            files: command.files, name: command.name, directory: "/", rules: rules, list: command.listRules)
        (plan.hooks, plan.hook) = (known, command.output.hooks.hook)
        try plan.refuseTwins(sources)
        let queue = try await Composition.queue(
            bringingTo: address, rules.configuration, hooks: command.output.hooks)
        let remote = try Fleet.look(at: address)
        let view: FleetView
        do {
            view = try await stage(sources, plan, on: queue, remote)
        } catch {
            await queue.close()
            throw error
        }
        await queue.close()
        let follow = FleetFollow(address: address, output: command.output, hint: command.place.hint)
        follow.reportMissingWorkers(remote)
        return command.waits.detach ? .complete : try await follow.watch(view, remote)
    }

    /// Adds the files' jobs to the queue, and leaves them to the workers.
    ///
    /// - Returns: The state of the batches before.
    private func stage(
        _ sources: [JobFileSource], _ plan: RunPlan, on queue: JobQueue, _ remote: QueueRemote
    ) async throws -> FleetView {
        var view = FleetView(since: .now)
        view.cursor = try remote.lastCursor()
        for source in sources {
            do {
                let staged = try await plan.stage(plan.read(source), on: queue) { jobs in
                    StandardError.write(
                        "\(source.name): \(NumberText.count(jobs, "job")) changed or removed: waiting for workers to release \(jobs == 1 ? "it" : "them")\n"
                    )
                }
                guard staged.folders.isEmpty else {
                    throw Failure(
                        .invalidJobFile,
                        "\(source.name): a run of a shared queue watches no folder: \"transfer watch --queue\" does")
                }
                for warning in staged.warnings { StandardError.write("\(source.name): \(warning)\n") }
                // The batch belongs to this process until `leave`: its counts cannot change before.
                view.add(staged.batch.name, kept: try remote.statuses(name: staged.batch.name).first?.done ?? 0)
                try await queue.leave(staged.batch)
                StandardError.write(
                    "\(staged.batch.name): \(NumberText.count(staged.batch.jobs, "job")) in \(address)\n")
            } catch StagingError.held(let batch, _) {
                throw Failure(.workLeft, "\(batch): another process brings jobs of it right now")
            }
        }
        return view
    }
}
