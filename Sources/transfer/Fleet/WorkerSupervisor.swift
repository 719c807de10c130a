import Synchronization
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// The work of a worker from its start until it is stopped.
///
/// The worker loses its lease when the database is unavailable for too long or the machine slept. It then begins anew
/// with another one, without a user's intervention.
struct WorkerSupervisor: Sendable {
    let address: FleetAddress
    let limits: BatchLimits
    let configuration: Configuration
    let hooks: HookOptions
    let worker: FleetWorker
    let reporter: Reporter
    /// The closure that begins to write metrics of a queue, where they are wanted.
    var metrics: @Sendable (JobQueue) throws -> MetricsFile? = { _ in nil }

    private let stop = StopSignal()

    init(
        address: FleetAddress, limits: BatchLimits, configuration: Configuration, hooks: HookOptions,
        worker: FleetWorker, reporter: Reporter
    ) {
        self.address = address
        self.limits = limits
        self.configuration = configuration
        self.hooks = hooks
        self.worker = worker
        self.reporter = reporter
    }

    func run() async throws -> ExitStatus {
        Signals.handle { [reporter, stop] in
            reporter.cancelWaits()
            stop.close()
        }
        let (connectionNotice, durabilityWarning) = (ConnectionNotice(reporter), DurabilityWarning(reporter))
        var pauses = ReconnectPauses()
        while !stop.isClosed {
            let queue: JobQueue
            do {
                queue = try await stop.opening { try await open(connectionNotice, durabilityWarning) }
            } catch {
                if stop.isClosed { break }
                guard let reason = address.connectionNotice(error) else { throw error }
                connectionNotice.tell(reason)
                await stop.rest(pauses.next())
                continue
            }
            connectionNotice.tell(nil)
            let began = MonotonicTime.now
            await work(queue)
            // The pauses begin anew only after a long shift, so that a fault that ends each shift soon is not repeated
            // at once.
            if MonotonicTime.now - began >= ReconnectPauses.longest { pauses.reset() }
            if !stop.isClosed { await stop.rest(pauses.next()) }
        }
        reporter.finish()
        return .complete
    }

    private func open(_ connectionNotice: ConnectionNotice, _ durabilityWarning: DurabilityWarning) async throws
        -> JobQueue
    {
        var worker = worker
        worker.reportConnection = { connectionNotice.tell($0) }
        worker.reportDurability = { durabilityWarning.tell($0) }
        return try await Composition.queue(
            workingOn: address, as: worker, limits: limits, configuration, hooks: hooks)
    }

    /// Works until the shift is over, or the queue cannot continue.
    private func work(_ queue: JobQueue) async {
        queue.observe { [reporter] in reporter.receive($0) }
        stop.enter(queue)
        do {
            let file = try metrics(queue)
            reporter.note(.info, "working on \(address) in \(worker.rules.directory)")
            defer { file?.close() }
            try await queue.run()
        } catch {
            let words = (error as? TransferError)?.message ?? "\(error)"
            if !stop.isClosed {
                reporter.note(.warn, "the transfers under way were abandoned: \(words); the worker begins anew")
            }
        }
        stop.leave()
        await queue.close()
    }
}

/// A report, made once each, that the queue's database is unavailable, and that it is available again.
final class ConnectionNotice: Sendable {
    private let reporter: Reporter
    private let isAway = Mutex(false)

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// Reports a change.
    ///
    /// - Parameter error: Why the database is unavailable; `nil` when it is available.
    func tell(_ error: TransferError?) {
        let wasAway = isAway.withLock { away in
            defer { away = error != nil }
            return away
        }
        if let error, !wasAway {
            reporter.note(.warn, "the queue's database is away, waiting for it: \(error.message)")
        } else if error == nil, wasAway {
            reporter.note(.info, "the queue's database is back")
        }
    }
}

/// The end of a worker's shift: it stops the current queue, and every wait.
final class StopSignal: Sendable {
    private struct State {
        var opening: Task<JobQueue, any Error>?
        var queue: JobQueue?
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Opens a queue; the end of the shift cancels that.
    func opening(_ open: @escaping @Sendable () async throws -> JobQueue) async throws -> JobQueue {
        let task = Task { try await open() }
        let isLate = state.withLock { state in
            state.opening = task
            return state.isClosed
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0.opening = nil } }
        return try await task.value
    }

    func enter(_ queue: JobQueue) {
        let isLate = state.withLock { state in
            state.queue = queue
            return state.isClosed
        }
        if isLate { queue.stop() }
    }

    func leave() { state.withLock { $0.queue = nil } }

    func close() {
        let (opening, queue, waiters) = state.withLock { state in
            state.isClosed = true
            return (state.opening, state.queue, exchange(&state.waiters, with: []))
        }
        opening?.cancel()
        queue?.stop()
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for that long, or until the shift is over.
    func rest(_ time: Duration) async {
        let alarm = Task {
            // The sleep is necessary: the pause between two attempts is a time, and no event ends it.
            try await Task.sleep(for: time)
            wake()
        }
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if !state.isClosed { state.waiters.append(waiter) }
                return state.isClosed
            }
            if isOver { waiter.resume() }
        }
        alarm.cancel()
    }

    private func wake() {
        for waiter in state.withLock({ exchange(&$0.waiters, with: []) }) { waiter.resume() }
    }
}
