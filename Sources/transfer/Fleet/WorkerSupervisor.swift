import Synchronization
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
    let limits: BatchLimits
    let configuration: Configuration
    let hooks: HookOptions
    let worker: FleetWorker
    let reporter: Reporter
    /// The key of sealed secrets; `nil` leaves jobs that have some to other workers.
    var sealingKey: SealingKey?
    /// The manager of the service, which is notified when the worker is ready and that it is alive.
    var manager: SystemdNotify?
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
        Signals.handle { [reporter, stop, manager] in
            manager?.send(.stopping)
            reporter.cancelWaits()
            stop.close()
        }
        let (connectionNotice, durabilityWarning) = (ConnectionNotice(reporter), DurabilityWarning(reporter))
        var pauses = ReconnectPauses()
        while !stop.isClosed {
            let queue: JobQueue
            do {
                queue = try await whileWaiting {
                    try await stop.opening { try await open(connectionNotice, durabilityWarning) }
                }
            } catch {
                if stop.isClosed { break }
                guard let reason = address.unavailability(error) else { throw error }
                connectionNotice.tell(reason)
                manager?.send(.ready, .status("waiting for the queue's database"))
                let pause = pauses.next()
                await whileWaiting { await stop.rest(pause) }
                continue
            }
            connectionNotice.tell(nil)
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
        worker.reportConnection = { connectionNotice.tell($0) }
        worker.reportDurability = { durabilityWarning.tell($0) }
        return try await Composition.queue(
            workingOn: address, as: worker, limits: limits, configuration, hooks: hooks, key: sealingKey)
    }

    /// Works until the shift is over, or the queue cannot continue.
    ///
    /// - Throws: The error of a queue that no further shift could continue either, because the database's role lacks a
    ///   right.
    private func work(_ queue: JobQueue) async throws {
        queue.observe { [reporter] in reporter.receive($0) }
        stop.enter(queue)
        let watchdog = manager.flatMap { queue.watchdog($0) }
        manager?.send(.ready, .status("working on \(address) in \(worker.rules.directory)"))
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
        watchdog?.stop()
        stop.leave()
        await queue.close()
        if let lasting { throw lasting }
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
