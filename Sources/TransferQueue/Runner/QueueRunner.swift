import Logging
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferReachability

/// Performs what the scheduler decides: claims jobs, prepares them, hands them to the engine, saves what comes and
/// records how it ended. Pinned to a loop of its own; whatever blocks is done by workers.
actor QueueRunner: LoopActor {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let configuration: QueueConfiguration
    let store: any JobStore & RunMemory
    let engine: ExchangeEngine
    let hub: EventHub
    let builder: RequestBuilder
    /// The database has one writer: one thread, in the order of the calls.
    let storeWorker = WorkerPool(name: "store", threads: 1)
    /// Makes and opens files: one thread, as several would only wait for each other's lock on the folder.
    let folderWorker = WorkerPool(name: "folders", threads: 1)
    /// What is known of the folders that files are put into.
    let census = FolderCensus()

    // The parts, each with a state of its own.
    var state = RunState()
    var scheduler: Scheduler
    var admission = Admission()
    var memory = JobMemory()
    let preparing: JobPreparing
    var running: [Int64: RunningJob] = [:]
    let downloads: Downloads
    var recorder = Recorder(now: .now)
    let batches = RunningBatches()
    let reporter: Reporter
    let folders = WatchedBatches()
    let commands = CommandPerformer()
    let following: NetworkFollower
    let abandonments: Abandonments
    let dialogues: UploadDialogues
    let sources: SourceChecks
    var timers: [RunTimer: LoopTimer] = [:]

    init(
        _ configuration: QueueConfiguration, store: any JobStore & RunMemory, engine: ExchangeEngine, loop: EventLoop,
        hub: EventHub
    ) {
        self.configuration = configuration
        self.store = store
        self.engine = engine
        self.loop = loop
        self.hub = hub
        builder = RequestBuilder(
            userAgent: configuration.userAgent, proxies: configuration.proxies, secrets: configuration.secrets)
        scheduler = Scheduler(limits: Scheduler.Limits(configuration.limits), now: .now)
        var options = NetworkMonitor.Options()
        options.meteredRule = configuration.meteredRule
        following = NetworkFollower(monitor: NetworkMonitor(loop: loop, options: options), engine: engine)
        preparing = JobPreparing(engine: engine, census: census, folders: folderWorker)
        downloads = Downloads(engine: engine, builder: builder, census: census)
        reporter = Reporter(interval: configuration.progressInterval)
        abandonments = Abandonments(engine: engine, builder: builder)
        sources = SourceChecks(engine: engine)
        dialogues = UploadDialogues(engine: engine)
        state.limiter = configuration.limits.limitRate.map { RateLimiter(rate: $0) }
    }

    /// For what starts from now on.
    func setLimits(_ limits: BatchLimits) {
        state.limiter = limits.limitRate.map { RateLimiter(rate: $0) }
        scheduler.setLimits(Scheduler.Limits(limits), now: .now)
    }

    // MARK: The store

    /// Does `work` on the store's thread and comes back with the result.
    func withStore<Value: Sendable>(
        _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
        then: @escaping @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        state.storeCalls += 1
        storeWorker.execute { [store, loop] in
            let result = Result { try work(store) }
            loop.execute { self.onLoop { $0.storeAnswered(result, then) } }
        }
    }

    private func storeAnswered<Value>(
        _ result: Result<Value, any Error>, _ then: @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        state.storeCalls -= 1
        switch result {
        case .success(let value): then(self, value)
        case .failure(let error): storeFailed(error)
        }
        pump()
    }

    /// Without its database the queue can't promise anything any more: it stops, and says why.
    func storeFailed(_ error: any Error) {
        let fault = store.fault(error)
        if state.fail(fault) {
            configuration.logger.error(
                "\((fault as? TransferError)?.message ?? "the queue's database failed: \(fault)")")
        }
        stop(.asked)
    }

    // MARK: The pump

    /// Sees to it that whatever may start now is started. Called after every event; done once for those that came
    /// together.
    func pump() {
        guard !state.isPumpDue else { return }
        state.isPumpDue = true
        loop.atEndOfTurn { [weak self] in
            self?.onLoop {
                $0.state.isPumpDue = false
                $0.startAll()
            }
        }
    }

    private func startAll() {
        guard state.stopping == nil else { return finishStopping() }
        // Bounded: each finished download holds a descriptor until it's durable.
        if downloads.unsaved < min(1024, scheduler.openFiles?.places ?? .max) {
            var wants: [LaneWant] = []
            for action in scheduler.decide(now: .now) {
                switch action {
                case .start(let candidate): begin(candidate)
                case .refuse(let candidate, let error): refuse(candidate, error)
                case .claim(let lane, let count): wants.append(LaneWant(lane: lane, limit: count))
                }
            }
            claim(wants)
        }
        preparing.flush(on: self)
        downloads.flushRecords(on: self)
        if running.isEmpty { preparing.rest() }
        scheduleWake()
        downloads.scheduleSave(isLast: scheduler.isIdle && state.storeCalls == 0, on: self)
        flushRecords()
        if state.storeCalls == 0, recorder.isEmpty, abandonments.isEmpty, !state.isFeeding { batches.finish(on: self) }
        reporter.scheduleTick(on: self)
    }

    /// Lanes whose jobs are taken in one transaction: each has a page of them at most.
    private static let claimsAtOnce = 64

    private func claim(_ wants: [LaneWant]) {
        let known = memory.secrets
        for page in wants.pages(of: Self.claimsAtOnce) {
            withStore {
                try $0.claim(page, secrets: known)
            } then: { runner, results in
                for (want, result) in zip(page, results) { runner.didClaim(result, asked: want.limit) }
            }
        }
    }

    /// Jobs are ready again, or for the first time.
    ///
    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    func becameReady(_ lane: Lane, _ count: Int, overtakes: Bool = false) {
        guard batches.isInRun(lane.batch) else { return }
        // The network is judged by the rules of what there is, and who waits for it is told.
        let isNews =
            (!lane.network.isEmpty || following.holdsJobs)
            && !scheduler.batches(under: lane.network).contains(lane.batch)
        scheduler.backlogGrew(lane, by: count, overtakes: overtakes)
        if isNews { following.review(on: self) }
    }

    func didClaim(_ result: ClaimedJobs, asked: Int) {
        for bad in result.unreadable {
            recorder.add(
                JobEnd(
                    id: bad.id, batch: result.lane.batch, identity: bad.identity,
                    outcome: .failed(bad.error, attempts: 0, host: nil)))
        }
        let reach = OriginReach(origin: result.lane.origin)
        let candidates = result.jobs.map { job in
            var record = job.record
            // Of what the damaged database knew nothing is left: a file that is there may be the job's own work, and what
            // was uploaded is asked for.
            if store.notice != nil { record.wasInterrupted = true }
            admission.add(record)
            return Scheduler.Candidate(
                id: job.record.id, lane: result.lane, priority: job.record.spec.priority, rank: job.rank,
                patience: OriginPatience(job.record.spec.settings.retry.rule),
                isEndless: folders[result.lane.batch] != nil,
                reach: builder.reach(job.record.spec, origin: result.lane.origin, straight: reach),
                knocks: builder.mayBeChallenged(job.record.spec, result.lane.origin))
        }
        scheduler.claimed(result.lane, candidates, asked: asked)
        // Once for all lanes: whatever else was asked of them was asked before it's counted.
        if result.isNews, batches[result.lane.batch]?.isAsStaged == true { batches.refresh(result.lane.batch, on: self) }
        // Which machines they are connected to first is known only now.
        if scheduler.network.held.contains(result.lane.network) { following.reviewSoon(on: self) }
        commands.holdBack(on: self)
    }

    private func scheduleWake() {
        let now = MonotonicTime.now
        var next = scheduler.nextWake
        if let sleeper = admission.nextDue {
            let time = max(now, sleeper)
            next = min(next ?? time, time)
        }
        guard let next else { return timer(.wake).cancel() }
        timer(.wake).schedule(at: next)
    }

    func wake() {
        wake(admission.wake(now: .now))
        pump()
    }

    func wake(_ jobs: [Int64]) {
        guard !jobs.isEmpty else { return }
        withStore {
            try $0.wake(jobs)
        } then: { runner, lanes in
            for (lane, count) in lanes { runner.becameReady(lane, count) }
        }
    }

    func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?) {
        guard let name = batches[batch]?.name, hub.isHeard else { return }
        hub.send(QueueEvent(time: WallClock.milliseconds, batch: name, cursor: cursor, kind: kind))
    }
}
