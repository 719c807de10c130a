import ArgumentParser
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// The commands `transfer get` and `transfer put` with `--queue postgres://…`: they add their jobs to the queue, whose
/// workers do them, and show their progress.
struct FleetOneOff {
    let address: FleetAddress
    let hint: CommandHint

    /// Refuses options about the transfers of this process, as other processes do the jobs.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ limits: LimitOptions, _ output: OutputOptions, standardInput: Bool) throws {
        var foreign: [String] = []
        if limits.concurrency != nil { foreign.append("-j") }
        if limits.perHost != nil { foreign.append("--per-host") }
        if limits.limitRate != nil { foreign.append("--limit-rate") }
        if output.metricsFile != nil { foreign.append("--metrics-file") }
        guard foreign.isEmpty else {
            throw ValidationError(
                "\(foreign.joined(separator: ", ")): with --queue postgres://… workers transfer, so transfer work takes that"
            )
        }
        if output.hooks.hook != nil {
            throw ValidationError(
                "--on-finish would have other machines run a command or ask a server, which workers refuse")
        }
        if standardInput {
            throw ValidationError(
                "with --queue postgres://… workers transfer files of theirs, not standard input or output")
        }
    }

    /// Adds the jobs, and follows them to their ends. The batch is forgotten after a complete success.
    func run(_ work: OneOff, name: String) async throws -> ExitStatus {
        let queue = try await Composition.queue(bringingTo: address, work.configuration, hooks: work.output.hooks)
        let follow = FleetFollow(address: address, output: work.output, hint: hint)
        var view = FleetView(since: .now)
        let remote: QueueRemote
        do {
            remote = try Fleet.look(at: address)
            view.cursor = try remote.lastCursor()
            let (batch, reports) = try await work.stage(on: queue, name: name, hook: nil)
            for (list, report) in zip(work.lists, reports) {
                for warning in report.report.warnings { StandardError.write("\(list.name): \(warning)\n") }
            }
            view.add(batch.name, kept: try remote.statuses(name: batch.name).first?.done ?? 0)
            try await queue.leave(batch)
            StandardError.write("\(NumberText.count(batch.jobs, "job")) in \(address)\n")
        } catch {
            await queue.close()
            throw error
        }
        await queue.close()
        follow.reportMissingWorkers(remote)
        let status = try await follow.watch(view, remote)
        if status == .complete { _ = try? remote.forget(name: name, endedBefore: nil) }
        return status
    }
}

/// The option of `get` and `put` for the queue.
struct OneOffPlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The queue: a folder (as --state), or a PostgreSQL database, whose workers then transfer. Relative paths "
                + "start from the folder of the worker.",
            valueName: "dir|postgres://…"), transform: QueueAddress.text)
    var queue: String?

    @OptionGroup var folder: StateOptions

    mutating func validate() throws { _ = try place() }

    /// Returns the place of the queue.
    ///
    /// - Throws: `ValidationError`.
    func place() throws -> QueuePlace {
        guard let queue else { return .folder(folder.state) }
        guard folder.state == nil else {
            throw ValidationError("--queue goes without --state, which says the same of a queue in a folder")
        }
        guard queue.contains("://") else { return .folder(queue) }
        guard QueueAddress.isDatabase(queue) else {
            throw ValidationError(
                "--queue takes a folder or postgres://HOST/DATABASE here; transfer run asks a service")
        }
        return .database(try QueueAddress.database(queue))
    }

    /// The address of a shared queue.
    var address: FleetAddress? {
        guard case .database(let address)? = try? place() else { return nil }
        return address
    }

    /// The folder of a local queue.
    var state: String? {
        guard case .folder(let state)? = try? place() else { return nil }
        return state
    }

    /// The place where workers do the jobs; `nil` for a queue of this machine.
    var fleet: FleetOneOff? {
        guard let address else { return nil }
        var hint = Composition.hint(state: nil)
        hint.queue = queue
        return FleetOneOff(address: address, hint: hint)
    }
}
