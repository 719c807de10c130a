import Glibc
import Logging
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferStore
import TransferStoreSQLite
public import TransferWatch

/// A durable queue of transfers in a folder of this machine.
///
/// Jobs are submitted to batches, survive the process, and are run by any process that calls ``run()``. The queue
/// touches no signal handler, environment variable, home folder or other global state.
///
/// ```swift
/// let queue = try await TransferQueue.open(.init(state: "/var/lib/mirror"))
/// let job = try await queue.submit(.download("https://a.example/x.iso", to: "/srv/x.iso"), batch: "mirror")
/// ```
public final class JobQueue: Sendable {
    let runner: QueueRunner
    let store: any JobStore & RunMemory
    /// The upload history of watched folders; `nil` if the store has none.
    let history: (any UploadHistory)?
    /// The reader of state that other processes may write; `nil` if only this process can run the queue.
    let queueReader: (any QueueReader)?
    private let changes = StoreChanges()
    let engine: any ExchangePerformer
    let hub: EventHub
    /// The thread for callers' queries, apart from the runner's, so that a query never waits behind a run.
    let reader = WorkerPool(name: "store-reader", threads: 1)
    let watchPools = WatchPools()

    /// Creates a queue over a store.
    ///
    /// - Parameters:
    ///   - store: The store of the queue.
    ///   - history: The upload history of watched folders, in the same store.
    ///   - queueReader: The same store, if other processes may work on the queue.
    ///   - engine: The performer of exchanges; `nil` makes an engine of the queue's own.
    ///   - accept: The judge of jobs as they are claimed; `nil` accepts all unchanged.
    init(
        _ configuration: QueueConfiguration, store: any JobStore & RunMemory, history: (any UploadHistory)?,
        queueReader: (any QueueReader)? = nil, engine: (any ExchangePerformer)? = nil, accept: JobJudge? = nil
    ) throws {
        self.store = store
        self.history = history
        self.queueReader = queueReader
        hub = EventHub()
        let loop = try EventLoop(name: "queue")
        let engine = try engine ?? configuration.engine(sharing: loop)
        self.engine = engine
        runner = QueueRunner(configuration, store: store, engine: engine, loop: loop, hub: hub, accept: accept)
        store.follow { [loop, weak runner] news in
            guard let runner else { return }
            loop.execute { runner.onLoop { $0.hear(news) } }
        }
        let log = QueueLog(configuration.logger)
        if log.isWanted { hub.add(log.tell) }
    }

    /// Opens the queue of a folder, and makes it if it does not exist.
    ///
    /// - Throws: `TransferError` if the folder or its database cannot be used; the message says why and what to do.
    public static func open(_ configuration: QueueConfiguration) async throws -> JobQueue {
        let queue = try await Self.worker.run {
            let store = try SQLiteStore(StateFolder(configuration.state))
            return try JobQueue(configuration, store: store, history: store, queueReader: store)
        }
        await queue.runner.listen(folder: configuration.state, runtime: configuration.runtimeFolder)
        return queue
    }

    /// Opens a queue with a store other than a folder of this machine. The folder of the configuration is not touched.
    ///
    /// - Parameters:
    ///   - store: A function that opens the store; it may block.
    ///   - accept: The judge of jobs that other processes brought, as they are claimed; `nil` accepts all unchanged.
    package static func open(
        _ configuration: QueueConfiguration,
        over store: @escaping @Sendable () throws -> any JobStore & RunMemory & QueueReader & UploadHistory,
        accepting accept: JobJudge? = nil
    ) async throws -> JobQueue {
        try await Self.worker.run {
            let store = try store()
            return try JobQueue(configuration, store: store, history: store, queueReader: store, accept: accept)
        }
    }

    private static let worker = WorkerPool(name: "queue-open", threads: 1)

    /// The repair that opening the queue needed, in words for users: its database was damaged and was moved aside.
    /// `nil` if there was none.
    public var notice: String? { store.notice }

    /// Ends the threads and releases the batches that this process held. The queue cannot be used afterwards.
    public func close() async {
        for uploader in await runner.watchers() { await uploader.stop() }
        await runner.closeControl()
        await runner.closeHooks()
        changes.stop(on: runner.loop)
        engine.shutDown()
        // An unreachable store must not delay the end: it has not recorded everything anyway.
        let (awaitsIt, failure) = await (runner.hasStoreCalls, runner.failure)
        if awaitsIt || failure != nil { store.cancelWaits() }
        _ = try? await reader.run { [store] in try store.retire() }
        runner.tools.storeWorker.stop()
        runner.tools.folderWorker.stop()
        reader.stop()
        watchPools.stop()
        runner.loop.stop()
    }

    /// Registers the source of a credential. Jobs name it (`.credential(name)`), because closures cannot be stored.
    ///
    /// The closure is called for each attempt, with the origin of the job. Its error fails the attempt.
    public func credentials(_ name: String, _ provider: @escaping CredentialProvider) async {
        await runner.register(name, provider)
    }

    // MARK: Running

    /// Runs every batch that no other process holds, and all later submissions, until the task is cancelled. Transfers
    /// under way are then checkpointed before this returns.
    ///
    /// - Throws: The database's error if it fails. Failed jobs are not errors.
    public func run() async throws {
        let store = store
        let batches = try await runner.beginning { [reader] in try await reader.run { try store.hold(.unfinished) } }
        for batch in batches { await runner.add(batch, secrets: [:], options: RunOptions()) }
        await runner.runForever()
        try await finish()
    }

    /// Runs staged batches to their end, or until ``stop()``.
    ///
    /// - Parameter begun: Called once they are in the run. Batches staged later join it by ``begin(_:)``.
    /// - Throws: The database's error if it fails. Failed jobs are not errors.
    public func run(
        _ batches: [StagedBatch], options: RunOptions = RunOptions(), begun: @Sendable () -> Void = {}
    ) async throws -> RunSummary {
        if let limits = options.limits { await runner.setLimits(limits) }
        for batch in batches {
            await runner.add(
                batch.staged.batch, secrets: batch.staged.secrets, options: options, tellsOfFailed: true,
                ready: batch.staged.ready)
            await runner.abandon(batch.staged.abandoned)
        }
        begun()
        return try await finish()
    }

    @discardableResult
    private func finish() async throws -> RunSummary {
        await withTaskCancellationHandler {
            await runner.waitForEnd()
        } onCancel: {
            stop()
        }
        if let failure = await runner.failure { throw failure }
        let summary = await runner.summary()
        await runner.endRun()
        return summary
    }

    /// Returns when all hooks (`onFinish`) have been delivered or given up, or no process runs the queue any longer.
    package func hooksReported() async { await runner.hooksReported() }

    /// Checkpoints all transfers under way within two seconds. Runs then return, and a later run continues.
    public func stop() { runner.loop.execute { [runner] in runner.onLoop { $0.stop(.asked) } } }

    /// Adds a batch to the current run that was staged while other batches run.
    public func begin(_ batch: StagedBatch) async {
        await runner.add(
            batch.staged.batch, secrets: batch.staged.secrets, options: RunOptions(), ready: batch.staged.ready)
        await runner.abandon(batch.staged.abandoned)
    }

    /// Sets whether jobs are still being added to a running batch, which keeps it from ending.
    public func setFeeding(_ isFeeding: Bool) async { await runner.setFeeding(isFeeding) }

    /// Reports a job that could not even be read as a failed one.
    public func addFailure(_ failure: JobFailure) async { await runner.addFailure(failure) }

    /// Sets the limits of transfers that start from now on.
    public func setLimits(_ limits: BatchLimits) {
        runner.loop.execute { [runner] in runner.onLoop { $0.setLimits(limits) } }
    }

    /// Sets the named commands from now on, and the connection settings of webhooks.
    package func setHooks(_ settings: HookSettings, _ configuration: Configuration) {
        runner.loop.execute { [runner] in runner.onLoop { $0.hooks.configure(settings, configuration) } }
    }

    // MARK: Events

    /// Calls `observer` with every event of this process, in order, on the queue's own thread: it must be fast.
    @discardableResult
    public func observe(_ observer: @escaping @Sendable (QueueEvent) -> Void) -> Int { hub.add(observer) }

    /// Reports all measurements of this queue from now on, for metrics of any form.
    ///
    /// - Parameters:
    ///   - folder: A function from the name of a batch that is not watched now to its folder; `nil` if it has none.
    ///   - observer: A function that any thread calls, also several at once, so it must be fast.
    package func measure(
        folder: @escaping @Sendable (String) -> String? = { _ in nil },
        _ observer: @escaping @Sendable ([Measurement]) -> Void
    ) {
        let runner = runner
        let events = Mutex(
            QueueMeasurements { name in
                // Events arrive on the runner's own thread.
                runner.onLoop { $0.folders.root(ofBatch: name) } ?? folder(name)
            })
        observer(QueueMeasurements.beginning + [Self.build])
        hub.measurements.add(observer)
        observe { event in
            let changes = events.withLock { $0.changes(by: event) }
            if !changes.isEmpty { observer(changes) }
        }
    }

    private static var build: Measurement {
        let library = CurlLibrary.version.split(separator: " ").first.map(String.init) ?? ""
        let version = library.split(separator: "/").last.map(String.init) ?? library
        return Measurement(.buildInfo, [TransferVersion.current, version], .set(1))
    }

    /// Returns the ends of jobs after a cursor, and then new ones as they happen. Each end appears at least once,
    /// however slow the reader. Some ends of watched folders' jobs are missing (``JobEnds``).
    ///
    /// The ends are read from the database on demand, so a slow reader costs no memory. Cursor 0 is the oldest.
    public func events(after cursor: Int64 = 0) -> JobEnds {
        JobEnds(queue: self, cursor: cursor)
    }

    /// Returns the newest progress of a batch, however slow the reader, until every job of it has ended.
    ///
    /// An element comes at most once a second, from any process. For an unknown batch, the sequence ends at once.
    public func progress(ofBatch name: String) -> BatchProgressUpdates {
        BatchProgressUpdates(queue: self, batch: name)
    }

    /// Returns a bell that rings for the ends of jobs, of any process.
    func endSignal() -> WakeSignal {
        watchStore()
        return WakeSignal(hub)
    }

    /// Starts ringing the hub's bells when another process has written to the database.
    func watchStore() {
        guard queueReader != nil else { return }
        let folder = store.sharesBatches ? nil : runner.configuration.state
        changes.start(folder: folder, on: runner.loop) { [hub] in hub.ring() }
    }

    func ends(after cursor: Int64, limit: Int) async throws -> [QueueEvent] {
        try await reader.run { [store] in try store.ends(after: cursor, limit: limit) }
    }

    // MARK: Steering

    /// Sends a command about a batch, or about one job in it, to the process that runs it.
    ///
    /// - Parameter job: The job's identity; `nil` for every job of the batch.
    /// - Throws: `TransferError` if the batch or job is unknown, or the database fails. An ended job is not an error.
    public func ask(_ verb: QueueVerb, batch: String, job: String? = nil) async throws {
        let delivery = try await reader.run { [store] in
            do { return try store.deliver(verb, batch: batch, job: job) } catch { throw store.fault(error) }
        }
        switch delivery {
        case .applied:
            if verb != .cancel, verb != .pause { try await takeUp(batch) }
            hub.ring()
        case .handed(let pid, let socket, _):
            if let socket { ControlSocket.ring(socket) }
            // The caller expects the command to be done on return.
            if pid == getpid() { await runner.performCommands() }
        case .noSuchBatch: throw TransferError(.fileMissing, "the queue has no batch \"\(batch)\"")
        case .noSuchJob: throw TransferError(.fileMissing, "the batch \"\(batch)\" has no job \"\(job ?? "")\"")
        }
    }

    /// Adds an ended batch that has jobs to do again to a continuous run.
    private func takeUp(_ batch: String) async throws {
        guard await runner.runs(batch) else { return }
        let held = try await reader.run { [store] in try store.hold(.named(batch)) }
        for batch in held { await runner.add(batch, secrets: [:], options: RunOptions()) }
    }

    /// Returns the state of a batch, whichever process runs it; `nil` if there is none of that name.
    func status(ofBatch name: String) async throws -> BatchStatus? {
        guard let queueReader else { return nil }
        return try await reader.run { try queueReader.statuses(name: name).first }
    }

    /// Returns whether the batch is run by this queue, or held by another one whose process lives.
    private func isAttended(_ batch: String) async throws -> Bool {
        if await runner.runs(batch) { return true }
        guard let queueReader else { return false }
        return try await reader.run { try queueReader.isHeldElsewhere(batch: batch) }
    }

    /// Returns an error once no process has run the batch for that time without interruption.
    func unattended(_ batch: String, for limit: Duration) async throws -> TransferError {
        let changes = endSignal()
        var since: ContinuousClock.Instant?
        while true {
            let rung = changes.count
            let now = ContinuousClock.now
            if try await isAttended(batch) {
                since = nil
                // There is no notice of the end of another process.
                await WakeSignal().wait(after: 0, atMost: limit)
            } else {
                let left = (since ?? now) + limit - now
                guard left > .zero else { break }
                since = since ?? now
                await changes.wait(after: rung, atMost: left)
            }
            try Task.checkCancellation()
        }
        return TransferError(
            .unattended,
            "no process has run the batch \"\(batch)\" for \(DurationText.words(limit)): "
                + "TransferQueue.run() does, in this process or in another one")
    }

    // MARK: Cancelled uploads

    /// Notifies the servers of uploads that were cancelled while no process ran them, so that they can free their data.
    /// A running queue does that automatically.
    ///
    /// Batches of other processes are left to them. An upload whose server was not reached stays recorded, and the next
    /// call tries again. Only a success or a server without the upload (404, 410) ends the attempts.
    ///
    /// - Parameters:
    ///   - names: The names of batches.
    ///   - limit: The longest time to wait for servers.
    /// - Returns: The uploads whose servers could not be notified.
    /// - Throws: The database's error if it fails. An unreachable server is not an error.
    @discardableResult
    public func abandonCancelled(in names: [String], within limit: Duration) async throws -> [UnreportedAbort] {
        let store = store
        let batches = try await reader.run {
            try names.flatMap { try store.hold(.named($0)) }
        }
        for batch in batches { await runner.abandonCancelled(batch.id) }
        let deadline = Task {
            // The limit is a time, so only a sleep can wait for it.
            try await Task.sleep(for: limit)
            stop()
        }
        await runner.waitForEnd()
        deadline.cancel()
        if let failure = await runner.failure { throw failure }
        await runner.endRun()
        let reasons = await runner.unreportedAborts
        return try await reader.run {
            var unreported: [UnreportedAbort] = []
            for batch in batches {
                for job in try store.heldUploads(batch: batch.id) {
                    let needsItsFile = reasons[job.id] == nil && job.hasSecrets
                    let reason = reasons[job.id] ?? (needsItsFile ? Self.secretIsGone : Self.tookTooLong)
                    unreported.append(
                        UnreportedAbort(
                            batch: batch.name, job: job.identity, reason: reason, needsItsJobFile: needsItsFile))
                }
                _ = try store.release(batch: batch.id, isComplete: false)
            }
            return unreported
        }
    }

    private static let secretIsGone = TransferError(
        .secretMissing, "its URL or headers hold a secret, which is never stored")
    private static let tookTooLong = TransferError(.timedOut, "it did not answer in time", isTransient: true)

    // MARK: Services

    /// Starts signs of life to a service manager, from the queue's own thread, so that they stop if it hangs.
    ///
    /// - Returns: The watchdog, which ends with the queue; `nil` if the manager does not ask for signs of life.
    public func watchdog(_ notify: SystemdNotify) -> SystemdWatchdog? { SystemdWatchdog(notify, loop: runner.loop) }
}
