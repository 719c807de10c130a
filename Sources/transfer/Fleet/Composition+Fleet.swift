import Logging
import TransferCore
import TransferFleet
import TransferQueue

// The parts of a queue that many machines share.
extension Composition {
    /// Opens a queue for reading and commands.
    ///
    /// - Throws: `TransferError` where the queue cannot be reached, or does not exist.
    static func remote(_ place: QueuePlace) throws -> QueueRemote {
        switch place {
        case .folder(let state): return try remote(state: state)
        case .database(let address): return try Fleet.look(at: address)
        case .service:
            throw Failure(.wrongUsage, "no service does that: run, status, pause, resume, cancel and retry ask one")
        }
    }

    /// Returns the queue only if it exists: reading creates nothing.
    static func remote(existing place: QueuePlace) throws -> QueueRemote? {
        guard case .folder(let state) = place else { return try remote(place) }
        return try remote(existingState: state)
    }

    /// Opens a queue to add jobs, which workers do.
    static func queue(
        bringingTo address: FleetAddress, _ set: Configuration, hooks: HookOptions
    ) async throws -> JobQueue {
        try await Fleet.bring(to: address, configuration(fleet: BatchLimits(), set, hooks: hooks)) {
            StandardError.write("transfer: \($0)\n")
        }
    }

    /// Opens a queue to work on it beside other processes.
    ///
    /// - Parameter key: The key of sealed secrets; `nil` leaves jobs that have some to other workers.
    static func queue(
        workingOn address: FleetAddress, as worker: FleetWorker, limits: BatchLimits, _ set: Configuration,
        hooks: HookOptions, key: SealingKey?
    ) async throws -> JobQueue {
        var configuration = try configuration(fleet: limits, set, hooks: hooks)
        configuration.sealingKey = key
        return try await Fleet.work(on: address, as: worker, configuration)
    }

    /// Opens a queue to watch folders on, beside other processes.
    static func queue(
        watching folders: [WatchSpec], on address: FleetAddress, lease: TimeSpan?, limits: BatchLimits,
        _ set: Configuration, hooks: HookOptions, _ reporter: Reporter
    ) async throws -> JobQueue {
        var worker = FleetWorker(rules: OutsideRules(directory: "/"))
        worker.lease = lease?.duration ?? worker.lease
        let (connectionNotice, durabilityWarning) = (ConnectionNotice(reporter), DurabilityWarning(reporter))
        worker.reportConnection = { connectionNotice.tell($0) }
        worker.reportDurability = { durabilityWarning.tell($0) }
        return try await Fleet.watch(
            folders, on: address, as: worker, configuration(fleet: limits, set, hooks: hooks))
    }

    private static func configuration(
        fleet limits: BatchLimits, _ set: Configuration, hooks: HookOptions
    ) throws -> QueueConfiguration {
        var configuration = try configuration(
            state: "/", limits: limits, links: MeteredRule(links: set.meteredLinks), hooks: self.hooks(hooks, set), set)
        // The command itself reports a queue that cannot continue, with its reaction.
        configuration.logger.logLevel = .critical
        return configuration
    }
}
