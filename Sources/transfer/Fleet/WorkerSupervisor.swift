import Glibc
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue
import TransferWatch

/// The work of a worker from its start until it is stopped.
///
/// The worker loses its lease when the database is unavailable for too long or the machine slept. It then begins anew
/// with another one, without a user's intervention.
struct WorkerSupervisor: Sendable {
    let address: FleetAddress
    let settings: WorkerSettings
    let hooks: HookOptions
    let worker: FleetWorker
    let reporter: Reporter
    /// The key of sealed secrets; `nil` leaves jobs that have some to other workers.
    var sealingKey: SealingKey?
    /// The manager of the service, which is notified when the worker is ready and that it is alive.
    var manager: SystemdNotify?
    /// The time for which batches are kept after their end; `nil` keeps them.
    var keep: Duration?
    /// The address at which health and metrics are answered.
    var listen: ListenAddress?
    /// The time for the transfers under way when the worker is asked to end; 0 checkpoints them at once.
    var drain = Self.defaultDrain
    /// The closure that begins to write metrics of a queue, where they are wanted.
    var metrics: @Sendable (JobQueue) throws -> MetricsFile? = { _ in nil }

    /// The time for the transfers under way, unless an option sets it.
    static let defaultDrain = Duration.seconds(30)
    /// The time that checkpoints, the last records and an unavailable database may take beyond it.
    private static let endTakes = Duration.seconds(15)

    private let stop = StopSignal()
    private let health = WorkerHealth()
    private let measurements: WorkerMetrics

    init(
        address: FleetAddress, settings: WorkerSettings, hooks: HookOptions, worker: FleetWorker, reporter: Reporter
    ) {
        self.address = address
        self.settings = settings
        self.hooks = hooks
        self.worker = worker
        self.reporter = reporter
        measurements = WorkerMetrics(address, settings) { [reporter] in reporter.note(.warn, $0) }
    }

    func run() async throws -> ExitStatus {
        Signals.handle { [self] in
            manager?.send(.stopping, .extendTimeout(drain + Self.endTakes), .status("ending: no new jobs"))
            reporter.cancelWaits()
            stop.close { await end($0) }
        }
        // On a terminal a SIGHUP means that the user has gone.
        if isatty(STDERR_FILENO) == 0 { Signals.reload { [self] in Task { await reload() } } }
        let probes = try listen.map(startProbes(at:))
        defer { probes?.close() }
        let (connectionNotice, durabilityWarning) = (ConnectionNotice(reporter), DurabilityWarning(reporter))
        var pauses = ReconnectPauses()
        var wasAdmitted = false
        while !stop.isClosed {
            let queue: JobQueue
            do {
                queue = try await whileWaiting {
                    try await stop.opening { try await open(connectionNotice, durabilityWarning) }
                }
            } catch {
                if stop.isClosed { break }
                guard let reason = address.unavailability(error, wasAdmitted: wasAdmitted) else { throw error }
                health.database(isAway: reason)
                connectionNotice.tell(reason)
                manager?.send(.ready, .status("waiting for the queue's database"))
                let pause = pauses.next()
                await whileWaiting { await stop.rest(pause) }
                continue
            }
            connectionNotice.tell(nil)
            wasAdmitted = true
            let began = MonotonicTime.now
            try await work(queue)
            // The pauses begin anew only after a long shift, so that a fault that ends each shift soon is not repeated
            // at once.
            if MonotonicTime.now - began >= ReconnectPauses.longest { pauses.reset() }
            if !stop.isClosed {
                let pause = pauses.next()
                await whileWaiting { await stop.rest(pause) }
            }
        }
        reporter.finish()
        return .complete
    }

    /// Notifies the manager that the worker is alive while no queue is open: it waits for its database.
    private func whileWaiting<Value: Sendable>(_ wait: () async throws -> Value) async rethrows -> Value {
        guard let manager, let interval = manager.watchdogInterval else { return try await wait() }
        let alive = Task {
            while true {
                // A sleep with a reason: the manager expects a sign of life in each interval.
                try await Task.sleep(for: interval)
                manager.send(.watchdog)
            }
        }
        defer { alive.cancel() }
        return try await wait()
    }

    private func open(_ connectionNotice: ConnectionNotice, _ durabilityWarning: DurabilityWarning) async throws
        -> JobQueue
    {
        var worker = worker
        worker.reportConnection = { [health] in
            health.database(isAway: $0)
            connectionNotice.tell($0)
        }
        worker.reportDurability = { durabilityWarning.tell($0) }
        return try await Composition.queue(
            workingOn: address, as: worker, limits: settings.limits, settings.configuration, hooks: hooks,
            key: sealingKey)
    }

    /// Works until the shift is over, or the queue cannot continue.
    ///
    /// - Throws: The error of a queue that no further shift could continue either, because the database's role lacks a
    ///   right.
    private func work(_ queue: JobQueue) async throws {
        queue.observe { [reporter] in reporter.receive($0) }
        measurements.listen(to: queue)
        health.began()
        stop.enter(queue)
        let watchdog = manager.flatMap { queue.watchdog($0) }
        manager?.send(.ready, .status("working on \(address) in \(worker.rules.directory)"))
        let retention = keep.map { age in
            Task { [address, reporter] in
                await WorkerRetention(address: address, age: age, reporter: reporter).run()
            }
        }
        defer { retention?.cancel() }
        var lasting: (any Error)?
        do {
            let file = try metrics(queue)
            reporter.note(.info, "working on \(address) in \(worker.rules.directory)")
            defer { file?.close() }
            try await queue.run()
        } catch {
            let words = (error as? TransferError)?.message ?? "\(error)"
            if address.isLasting(error) {
                lasting = error
            } else if !stop.isClosed {
                reporter.note(.warn, "the transfers under way were abandoned: \(words); the worker begins anew")
            }
        }
        await stop.leave()
        watchdog?.stop()
        await queue.close()
        if let lasting { throw lasting }
    }

    /// Starts to answer health and metrics.
    ///
    /// - Throws: `TransferError` where the address cannot be used.
    private func startProbes(at address: ListenAddress) throws -> ProbeServer {
        let (health, measurements) = (health, measurements)
        let server = try ProbeServer(address) {
            health.trouble
        } metrics: {
            measurements.text(asksDatabase: health.trouble == nil)
        }
        reporter.note(.info, "/healthz and /metrics at \(server.address)")
        return server
    }

    /// Lets the transfers under way end, and reports the beginning and the end of that time.
    private func end(_ queue: JobQueue) async {
        let text = WorkerText(limit: drain)
        let report = await queue.drain(within: drain) { [reporter] in
            reporter.note(.info, text.begun(underWay: $0, isAway: queue.isDatabaseAway))
        }
        let isAway = queue.isDatabaseAway
        if let words = text.ended(report, isAway: isAway) { reporter.note(isAway ? .warn : .info, words) }
    }

    /// Reads the configuration again, for transfers that start from now on. A faulty one changes nothing.
    private func reload() async {
        manager?.send(.reloading(at: .awake))
        reporter.reopenReport()
        do throws(Failure) {
            try settings.reload()
            if let queue = stop.queue {
                queue.setLimits(settings.limits)
                queue.setHooks(Composition.hooks(hooks, settings.configuration), settings.configuration)
            }
            reporter.note(.info, "the configuration was read again")
        } catch {
            reporter.note(.error, "\(error.message); the worker continues as before")
        }
        manager?.send(.ready)
    }
}
