import Synchronization
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// A worker's time from its start until it's stopped. Where its lease is lost, as the database was away for too long or the
/// machine slept, it begins anew with another one: nobody has to see to it.
struct WorkerSupervisor: Sendable {
    let address: FleetAddress
    let limits: BatchLimits
    let configuration: Configuration
    let hooks: HookOptions
    let worker: FleetWorker
    let reporter: Reporter
    /// Keeps metrics of a queue, where they are wanted.
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
            // A fault that ends each shift soon, such as a lost lease, is not met again at once.
            if MonotonicTime.now - began >= ReconnectPauses.longest { pauses.reset() }
            if !stop.isClosed { await stop.rest(pauses.next()) }
        }
        reporter.finish()
        return .complete
    }

    private func open(_ connectionNotice: ConnectionNotice, _ durabilityWarning: DurabilityWarning) async throws -> JobQueue {
        var worker = worker
        worker.reportConnection = { connectionNotice.tell($0) }
        worker.reportDurability = { durabilityWarning.tell($0) }
        return try await Composition.queue(
            workingOn: address, as: worker, limits: limits, configuration, hooks: hooks)
    }

    /// Works until the shift is over, or the queue can't go on.
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
                reporter.note(.warn, "what was under way is given up: \(words); the worker begins anew")
            }
        }
        stop.leave()
        await queue.close()
    }
}

/// Tells once that the queue's database is away, and once that it's back.
final class ConnectionNotice: Sendable {
    private let reporter: Reporter
    private let isAway = Mutex(false)

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// - Parameter error: Why it's away; `nil` when it's there.
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

/// The end of a worker's shift: it stops the queue that it works on then, and every wait.
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
            // A sleep with a reason: the pause between two attempts is a time, and nothing else ends it.
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
