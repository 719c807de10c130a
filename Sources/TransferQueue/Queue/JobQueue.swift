import Glibc
import Logging
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferStore
public import TransferWatch

/// A durable queue of transfers in a folder of this machine.
///
/// Jobs are submitted to batches, survive the process, and are run by whichever process calls ``run()``. No signal
/// handler, environment variable, home folder or other global state is touched.
///
/// ```swift
/// let queue = try await TransferQueue.open(.init(state: "/var/lib/mirror"))
/// let job = try await queue.submit(.download("https://a.example/x.iso", to: "/srv/x.iso"), batch: "mirror")
/// ```
public final class JobQueue: Sendable {
    let runner: QueueRunner
    let store: any JobStore & RunMemory
    /// `nil` where the store knows nothing of watched folders.
    let history: (any UploadHistory)?
    /// What a queue is asked that another process may run; `nil` where no other one can.
    let queueReader: (any QueueReader)?
    private let changes = StoreChanges()
    let engine: ExchangeEngine
    let hub: EventHub
    /// For callers that ask: apart from the runner's, so that a question never waits behind a run.
    let reader = WorkerPool(name: "store-reader", threads: 1)
    let watchPools = WatchPools()

    /// - Parameters:
    ///   - store: What remembers the queue.
    ///   - ledger: What remembers watched folders, beside it.
    ///   - outlook: The store again, where other processes may work on the queue.
    ///   - accept: Judges jobs as they are claimed; `nil` takes all as they are.
    init(
        _ configuration: QueueConfiguration, store: any JobStore & RunMemory, history: (any UploadHistory)?,
        queueReader: (any QueueReader)? = nil, accept: JobJudge? = nil
    ) throws {
        self.store = store
        self.history = history
        self.queueReader = queueReader
        hub = EventHub()
        let loop = try EventLoop(name: "queue")
        // A thread more would only be in the others' way: each job goes to and fro between the queue and its transfer.
        let shares = configuration.loops == 0 && configuration.cores < 3
        let loops = configuration.loops > 0 ? configuration.loops : min(4, configuration.cores)
        engine = try ExchangeEngine(loops: loops, sharing: shares ? loop : nil)
        runner = QueueRunner(configuration, store: store, engine: engine, loop: loop, hub: hub, accept: accept)
        store.follow { [loop, weak runner] news in
            guard let runner else { return }
            loop.execute { runner.onLoop { $0.hear(news) } }
        }
        let log = QueueLog(configuration.logger)
        if log.isWanted { hub.add(log.tell) }
    }

    /// Opens the queue of a folder, or makes it.
    ///
    /// - Throws: `TransferError` when the folder or its database can't be used; the message says why and what to do.
    public static func open(_ configuration: QueueConfiguration) async throws -> JobQueue {
        let queue = try await Self.worker.run {
            let store = try SQLiteStore(StateFolder(configuration.state))
            return try JobQueue(configuration, store: store, history: store, queueReader: store)
        }
        await queue.runner.listen(folder: configuration.state, runtime: configuration.runtimeFolder)
        return queue
    }

    /// Opens a queue that something else than a folder of this machine remembers. The folder of the configuration isn't touched.
    ///
    /// - Parameters:
    ///   - store: Makes that; it may block.
    ///   - accept: Judges jobs that others brought, as they are claimed; `nil` takes all as they are.
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

    /// What had to be done to open the queue, in words for people: its database was damaged and was moved aside. `nil` when
    /// all was well.
    public var notice: String? { store.notice }

    /// Ends the threads and gives back what this process held. Nothing can be done with the queue afterwards.
    public func close() async {
        for uploader in await runner.watchers() { await uploader.stop() }
        await runner.closeControl()
        await runner.closeHooks()
        changes.stop(on: runner.loop)
        engine.shutDown()
        let store = store
        // A store that is away keeps nobody here, and hasn't recorded everything.
        let (awaitsIt, failure) = await (runner.hasStoreCalls, runner.failure)
        if awaitsIt || failure != nil { store.cancelWaits() }
        _ = try? await reader.run { try store.retire() }
        runner.tools.storeWorker.stop()
        runner.tools.folderWorker.stop()
        reader.stop()
        watchPools.stop()
        runner.loop.stop()
    }

    /// Registers where a credential comes from: jobs name it (`.credential(name)`), as closures can't be stored.
    ///
    /// The closure is asked for each attempt of each job that names it, with the origin the job speaks to.
    public func credentials(_ name: String, _ provider: @escaping CredentialProvider) async {
        await runner.register(name, provider)
    }

    // MARK: Running

    /// Works on every batch that no other process has, and on what is submitted meanwhile, until the task is cancelled:
    /// then everything under way is checkpointed and this returns.
    ///
    /// - Throws: When the database fails.
    public func run() async throws {
        let store = store
        let batches = try await runner.beginning { [reader] in try await reader.run { try store.hold(.unfinished) } }
        for batch in batches { await runner.add(batch, secrets: [:], options: RunOptions()) }
        await runner.runForever()
        try await finish()
    }

    /// Runs staged batches to their end, or until ``stop()``.
    ///
    /// - Parameter begun: Called once they are in the run: what is staged anew from then on goes into it by ``begin(_:)``.
    /// - Throws: When the database fails.
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

    /// Returns when hooks (`onFinish`) have been told everything, as far as they could be, or nobody runs the queue any more.
    package func hooksReported() async { await runner.hooksReported() }

    /// Checkpoints everything under way within two seconds; runs return then, and a later one continues.
    public func stop() { runner.loop.execute { [runner] in runner.onLoop { $0.stop(.asked) } } }

    /// Takes a batch that was staged while others run into the run.
    public func begin(_ batch: StagedBatch) async {
        await runner.add(
            batch.staged.batch, secrets: batch.staged.secrets, options: RunOptions(), ready: batch.staged.ready)
        await runner.abandon(batch.staged.abandoned)
    }

    /// Whether jobs are still being added to a batch that runs, which so can't end.
    public func setFeeding(_ isFeeding: Bool) async { await runner.setFeeding(isFeeding) }

    /// Tells of a job that could not even be read, as one that failed.
    public func addFailure(_ failure: JobFailure) async { await runner.addFailure(failure) }

    /// For what starts from now on.
    public func setLimits(_ limits: BatchLimits) {
        runner.loop.execute { [runner] in runner.onLoop { $0.setLimits(limits) } }
    }

    /// Sets the commands that names stand for from now on, and how the servers of webhooks are reached.
    package func setHooks(_ settings: HookSettings, _ configuration: Configuration) {
        runner.loop.execute { [runner] in runner.onLoop { $0.hooks.configure(settings, configuration) } }
    }

    // MARK: Events

    /// Calls `observer` with every event of this process, in order, on the queue's own thread: it has to be quick.
    @discardableResult
    public func observe(_ observer: @escaping @Sendable (QueueEvent) -> Void) -> Int { hub.add(observer) }

    /// Has everything that is measured of this queue told from now on: the one source of all metrics, in whichever form
    /// they are shown.
    ///
    /// - Parameters:
    ///   - folder: The watched folder of a batch of that name, for batches that aren't watched now; `nil` for others.
    ///   - observer: Called by any thread, also by several at once: it has to be quick.
    package func measure(
        folder: @escaping @Sendable (String) -> String? = { _ in nil },
        _ observer: @escaping @Sendable ([Measurement]) -> Void
    ) {
        let runner = runner
        let events = Mutex(
            QueueMeasurements { name in
                // Events come on the runner's own thread.
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

    /// How jobs ended, from the cursor on and then as it happens: each end at least once, however slow the reader.
    /// Of watched folders' jobs only those that are kept (``JobEnds``).
    ///
    /// The ends are read from the database as the reader asks for them, so a slow one costs no memory.
    public func events(after cursor: Int64 = 0) -> JobEnds {
        JobEnds(queue: self, cursor: cursor)
    }

    /// How a batch goes on: always the newest, however slow the reader is, and the end when every job of it has ended.
    ///
    /// It comes once a second at most, and it makes no difference which process runs the batch. Where there is no such
    /// batch, it ends at once.
    public func progress(ofBatch name: String) -> BatchProgressUpdates {
        BatchProgressUpdates(queue: self, batch: name)
    }

    /// A bell that rings for the ends of jobs, whichever process they are of.
    func endSignal() -> WakeSignal {
        watchStore()
        return WakeSignal(hub)
    }

    /// From now on the hub's bells ring when another process has written to the database.
    func watchStore() {
        guard queueReader != nil else { return }
        let folder = store.sharesBatches ? nil : runner.configuration.state
        changes.start(folder: folder, on: runner.loop) { [hub] in hub.ring() }
    }

    func ends(after cursor: Int64, limit: Int) async throws -> [QueueEvent] {
        try await reader.run { [store] in try store.ends(after: cursor, limit: limit) }
    }

    // MARK: Steering

    /// Asks something of a batch or of one job in it, of whichever process runs it.
    ///
    /// - Parameter job: `nil` means every job of the batch.
    /// - Throws: `TransferError` when there is no such batch or job, or the database fails.
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
            // The caller finds it done.
            if pid == getpid() { await runner.performCommands() }
        case .noSuchBatch: throw TransferError(.fileMissing, "the queue has no batch \"\(batch)\"")
        case .noSuchJob: throw TransferError(.fileMissing, "the batch \"\(batch)\" has no job \"\(job ?? "")\"")
        }
    }

    /// A run without an end goes on with a batch that had ended and has something left again.
    private func takeUp(_ batch: String) async throws {
        guard await runner.runs(batch) else { return }
        let held = try await reader.run { [store] in try store.hold(.named(batch)) }
        for batch in held { await runner.add(batch, secrets: [:], options: RunOptions()) }
    }

    /// How a batch stands, whichever process runs it; `nil` when there is none of that name.
    func status(ofBatch name: String) async throws -> BatchStatus? {
        guard let queueReader else { return nil }
        return try await reader.run { try queueReader.statuses(name: name).first }
    }

    /// Whether the batch is run: by this queue, or by another one that has it and lives.
    private func isAttended(_ batch: String) async throws -> Bool {
        if await runner.runs(batch) { return true }
        guard let queueReader else { return false }
        return try await reader.run { try queueReader.isHeldElsewhere(batch: batch) }
    }

    /// Returns an error once nobody has run the batch for that time at a stretch.
    func connectionNotice(of batch: String, for limit: Duration) async throws -> TransferError {
        let changes = endSignal()
        var since: ContinuousClock.Instant?
        while true {
            let rung = changes.count
            let now = ContinuousClock.now
            if try await isAttended(batch) {
                since = nil
                // Nothing tells of the end of another process.
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
            "nobody has run the batch \"\(batch)\" for \(DurationText.words(limit)): "
                + "TransferQueue.run() does, in this process or in another one")
    }

    // MARK: Cancelled uploads

    /// Tells the servers of uploads that were cancelled while nobody ran them that they can free what they hold: a running
    /// queue does that by itself.
    ///
    /// Batches that another process works on are left to it. What can't be told stays known, and the next call tries again:
    /// only a success, or a server that has nothing (404, 410), is an end.
    ///
    /// - Parameters:
    ///   - names: Of batches.
    ///   - limit: The longest that this waits for servers.
    /// - Returns: What couldn't be told.
    /// - Throws: When the database fails.
    @discardableResult
    public func abandonCancelled(in names: [String], within limit: Duration) async throws -> [UnreportedAbort] {
        let store = store
        let batches = try await reader.run {
            try names.flatMap { try store.hold(.named($0)) }
        }
        for batch in batches { await runner.abandonCancelled(batch.id) }
        let deadline = Task {
            // The limit is a time, so it's waited for by time.
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
    private static let tookTooLong = TransferError(.timedOut, "it didn't answer in time", isTransient: true)

    // MARK: Services

    /// The names of all batches, in the order in which they came.
    public func batchNames() async throws -> [String] {
        try await batchRegister().names
    }

    /// All batches, in the order in which they came, with their numbers.
    public func batchRegister() async throws -> BatchRegister {
        let store = store
        return try await reader.run { try store.batchRegister() }
    }

    /// Tells a service's manager that this queue lives: from its own thread, so that it's silent when that hangs.
    ///
    /// - Returns: `nil` when the manager doesn't ask for signs of life. It ends with the queue.
    public func watchdog(_ notify: SystemdNotify) -> SystemdWatchdog? { SystemdWatchdog(notify, loop: runner.loop) }
}
