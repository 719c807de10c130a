import DequeModule
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
    let store: SQLiteStore
    let engine: ExchangeEngine
    let hub: EventHub
    let builder: RequestBuilder
    /// The database has one writer: one thread, in the order of the calls.
    let storeWorker = WorkerPool(name: "store", threads: 1)
    /// Makes and opens files: one thread, as several would only wait for each other's lock on the folder.
    let folderWorker = WorkerPool(name: "folders", threads: 1)
    /// What is known of the folders that files are put into.
    let census = FolderCensus()
    var limiter: RateLimiter?

    var scheduler: Scheduler
    var batches: [Int64: BatchRun] = [:]
    var running: [Int64: RunningJob] = [:]
    /// Records of claimed jobs that haven't started.
    var claimed: [Int64: JobRecord] = [:]
    /// Jobs of new batches that were never read from the store.
    var reserves: [Lane: Deque<JobReserve.Job>] = [:]
    /// Lanes of reserves that have ready jobs in the store too: these came back, and go first.
    var returned: Set<Lane> = []
    var secrets: [Int64: JobSecrets] = [:]
    var traces = AttemptTraces()
    /// Closures of the program, by the names that jobs use.
    var providers: [String: CredentialProvider] = [:]
    var sleepers: [SQLiteStore.Sleeper] = []
    /// Watched files that have been queued anew because they lacked a digest.
    var unread: Set<UnreadVersion> = []
    /// Downloads whose slot is there, about to be handed to a worker.
    var preparing: [DownloadPreparation] = []
    /// Uploads whose slot is there, likewise.
    var opening: [UploadPreparation] = []
    /// Of uploads that are about to have a slot.
    var ahead = SourcesAhead()
    /// Uploads whose slot is there, and whose source was opened before.
    var atHand: [(id: Int64, source: Result<OpenedSource, TransferError>)] = []
    /// Downloads that came whole and wait to be made durable together.
    var finishing: [DownloadCompletion.Item] = []
    /// Handed to workers to be saved, not answered yet.
    var saving = 0
    /// Of downloads that are under way.
    var partRecords = PartRecords()
    var ends: [JobEnd] = []
    var steps: [JobStep] = []
    var isRecording = false
    /// Who waits until jobs that were taken back are recorded, and the jobs.
    var returns: [(jobs: Set<Int64>, waiter: CheckedContinuation<Void, Never>)] = []
    /// Until then records gather.
    var nextRecord = MonotonicTime.now
    var recordTimer: LoopTimer?
    /// Calls to the store whose answers are still to come: while there are any, nobody is idle.
    var storeCalls = 0
    var stopping: StopReason?
    var stopTimer: LoopTimer?
    /// Until then a lack of descriptors isn't told of again.
    var descriptorsToldUntil = MonotonicTime.now
    /// When a job found no descriptor last.
    var descriptorsLacked: MonotonicTime?
    private var wakeTimer: LoopTimer?
    private var saveTimer: LoopTimer?
    private var tickTimer: LoopTimer?
    var waiters: [CheckedContinuation<Void, Never>] = []
    var control: ControlSocket?
    /// Whether the run goes on when there is nothing to do.
    var isEndless = false
    /// Whether jobs are still being added to a batch, which so can't end.
    var isFeeding = false
    /// What was asked of this process, and what of it is being done.
    var commands: [QueueCommand] = []
    var performing: QueueCommand?
    let monitor: NetworkMonitor
    var network = QueueNetwork()
    /// Numbers of dialogues with servers.
    var talks = 0
    var abandonments: [Int: Abandonment] = [:]
    var abandonTimers: [Int: LoopTimer] = [:]
    /// Why servers of cancelled jobs couldn't be told, by job.
    var untold: [Int64: TransferError] = [:]
    var observation: NetworkObservation?
    var networkTimer: LoopTimer?
    var stallTimer: LoopTimer?
    var stallsUntil = MonotonicTime.now
    /// Lanes whose origins the network that is there doesn't lead to.
    var unreachable: Set<Lane> = []
    /// When those are tried again though nothing changed.
    var unreachableUntil: MonotonicTime?
    /// Hosts that may be reached without a way out.
    var ways = HostWays()
    /// Whether the network is judged anew at the end of this turn.
    var isReviewDue = false
    /// Rules (``Lane/network``) that let nothing start.
    var networkWaits: [String: NetworkPause] = [:]
    /// The origins that jobs wait for, as they were last published.
    var publishedWaits: Set<OriginWait> = []
    /// What each batch's last report said.
    var reported: [Int64: BatchReport] = [:]
    var hasNewUsage = false
    /// Who watches the folders of batches.
    var watches: [Int64: WatchKeeper] = [:]
    var watchNames: Set<String> = []
    /// What the last change took from the ways out, in words.
    var losses: [String] = []

    enum StopReason: Sendable {
        case asked
        case tooManyFailures
    }

    init(
        _ configuration: QueueConfiguration, store: SQLiteStore, engine: ExchangeEngine, loop: EventLoop, hub: EventHub
    ) {
        self.configuration = configuration
        self.store = store
        self.engine = engine
        self.loop = loop
        self.hub = hub
        builder = RequestBuilder(
            userAgent: configuration.userAgent, proxies: configuration.proxies, secrets: configuration.secrets)
        limiter = configuration.limits.limitRate.map { RateLimiter(rate: $0) }
        scheduler = Scheduler(limits: Scheduler.Limits(configuration.limits), now: .now)
        var options = NetworkMonitor.Options()
        options.meteredRule = configuration.meteredRule
        monitor = NetworkMonitor(loop: loop, options: options)
    }

    /// For what starts from now on.
    func setLimits(_ limits: BatchLimits) {
        limiter = limits.limitRate.map { RateLimiter(rate: $0) }
        scheduler.setLimits(Scheduler.Limits(limits), now: .now)
    }

    // MARK: The store

    /// Does `work` on the store's thread and comes back with the result.
    func withStore<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteStore) throws -> Value,
        then: @escaping @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        storeCalls += 1
        storeWorker.execute { [store, loop] in
            let result = Result { try work(store) }
            loop.execute { self.onLoop { $0.storeAnswered(result, then) } }
        }
    }

    private func storeAnswered<Value>(
        _ result: Result<Value, any Error>, _ then: @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        storeCalls -= 1
        switch result {
        case .success(let value): then(self, value)
        case .failure(let error): storeFailed(error)
        }
        pump()
    }

    /// Without its database the queue can't promise anything any more: it stops, and says why.
    func storeFailed(_ error: any Error) {
        // What comes after it is of the same kind.
        if failure == nil {
            let fault = store.fault(error)
            configuration.logger.error(
                "\((fault as? TransferError)?.message ?? "the queue's database failed: \(fault)")")
            failure = fault
        }
        stop(.asked)
    }

    /// Why the run can't go on.
    private(set) var failure: (any Error)?

    // MARK: The pump

    /// Sees to it that whatever may start now is started. Called after every event; done once for those that came
    /// together.
    func pump() {
        guard !isPumpDue else { return }
        isPumpDue = true
        loop.atEndOfTurn { [weak self] in
            self?.onLoop {
                $0.isPumpDue = false
                $0.startAll()
            }
        }
    }

    private var isPumpDue = false

    private func startAll() {
        guard stopping == nil else { return finishStopping() }
        // Bounded: each finished download holds a descriptor until it's durable.
        if saving + finishing.count < min(1024, scheduler.openFiles?.places ?? .max) {
            var wants: [SQLiteStore.Want] = []
            for action in scheduler.decide(now: .now) {
                switch action {
                case .start(let candidate): begin(candidate)
                case .refuse(let candidate, let error): refuse(candidate, error)
                case .claim(let lane, let count): wants.append(SQLiteStore.Want(lane: lane, limit: count))
                }
            }
            claim(wants)
        }
        flushPreparations()
        flushPartRecords()
        if running.isEmpty { ahead.rest() }
        scheduleWake()
        scheduleSave()
        flushRecords()
        finishBatches()
        scheduleTick()
    }

    /// Lanes whose jobs are taken in one transaction: each has a page of them at most.
    private static let claimsAtOnce = 64

    private func claim(_ wants: [SQLiteStore.Want]) {
        var (ofReserves, ofStore): ([SQLiteStore.Want], [SQLiteStore.Want]) = ([], [])
        for want in wants {
            if reserves[want.lane] != nil, returned.remove(want.lane) == nil {
                ofReserves.append(want)
            } else {
                ofStore.append(want)
            }
        }
        for page in ofReserves.pages(of: Self.claimsAtOnce) { openReserves(page) }
        let known = secrets
        for page in ofStore.pages(of: Self.claimsAtOnce) {
            withStore {
                try $0.claim(page, secrets: known)
            } then: { runner, results in
                for (want, result) in zip(page, results) { runner.took(result, want) }
            }
        }
    }

    private func took(_ result: SQLiteStore.Claimed, _ want: SQLiteStore.Want) {
        guard reserves[want.lane] != nil else { return didClaim(result, asked: want.limit) }
        // There is more than the store gave, whatever it gave.
        if result.jobs.count == want.limit { returned.insert(want.lane) }
        didClaim(result, asked: result.jobs.count)
    }

    /// Jobs are ready again, or for the first time.
    ///
    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    func becameReady(_ lane: Lane, _ count: Int, overtakes: Bool = false) {
        guard isInRun(lane.batch) else { return }
        // The network is judged by the rules of what there is, and who waits for it is told.
        let isNews =
            (!lane.network.isEmpty || !networkWaits.isEmpty)
            && !scheduler.batches(under: lane.network).contains(lane.batch)
        scheduler.backlogGrew(lane, by: count, overtakes: overtakes)
        if isNews { review() }
        if reserves[lane] != nil { returned.insert(lane) }
    }

    func didClaim(_ result: SQLiteStore.Claimed, asked: Int) {
        for bad in result.unreadable {
            ends.append(
                JobEnd(
                    id: bad.id, batch: result.lane.batch, identity: bad.identity,
                    outcome: .failed(bad.error, attempts: 0, host: nil)))
        }
        let reach = OriginReach(origin: result.lane.origin)
        let candidates = result.jobs.map { job in
            claimed[job.record.id] = job.record
            // Of what the damaged database knew nothing is left: a file that is there may be the job's own work, and what
            // was uploaded is asked for.
            if store.notice != nil { claimed[job.record.id]?.wasInterrupted = true }
            return Scheduler.Candidate(
                id: job.record.id, lane: result.lane, priority: job.record.spec.priority, rank: job.rank,
                patience: OriginPatience(job.record.spec.settings.retry.rule),
                isEndless: watches[result.lane.batch] != nil,
                reach: builder.reach(job.record.spec, origin: result.lane.origin, straight: reach),
                knocks: builder.mayBeChallenged(job.record.spec, result.lane.origin))
        }
        scheduler.claimed(result.lane, candidates, asked: asked)
        // Which machines they are connected to first is known only now.
        if scheduler.network.held.contains(result.lane.network) { reviewSoon() }
        holdBack()
    }

    private func scheduleWake() {
        let now = MonotonicTime.now
        var next = scheduler.nextWake
        if let sleeper = sleepers.map(\.due).min() {
            let time = max(now, sleeper)
            next = min(next ?? time, time)
        }
        guard let next else {
            wakeTimer?.cancel()
            return
        }
        let timer = wakeTimer ?? loop.makeTimer { [weak self] in self?.onLoop { $0.wake() } }
        wakeTimer = timer
        timer.schedule(at: next)
    }

    private func wake() {
        let now = MonotonicTime.now
        let due = sleepers.filter { $0.due <= now }.map(\.id)
        if !due.isEmpty {
            sleepers.removeAll { $0.due <= now }
            withStore {
                try $0.wake(due)
            } then: { runner, lanes in
                for (lane, count) in lanes { runner.becameReady(lane, count) }
            }
        }
        pump()
    }

    /// Saves a group when it's large, or when it has waited for company long enough.
    private func scheduleSave() {
        guard !finishing.isEmpty else { return }
        let isLast = scheduler.isIdle && storeCalls == 0
        if finishing.count >= 256 || isLast {
            saveTimer?.cancel()
            return saveGroup()
        }
        let timer =
            saveTimer
            ?? loop.makeTimer { [weak self] in
                self?.onLoop {
                    $0.saveGroup()
                    $0.pump()
                }
            }
        saveTimer = timer
        if !timer.isScheduled { timer.schedule(at: .now + .milliseconds(100)) }
    }

    // MARK: Progress

    /// While nothing runs and nothing changes, nobody is to be woken but for a word a minute.
    private func scheduleTick() {
        guard !running.isEmpty || batches.values.contains(where: { !$0.isFinished }) else {
            tickTimer?.cancel()
            return
        }
        let isIdle = running.isEmpty && !hasNews
        let timer = tickTimer ?? loop.makeTimer { [weak self] in self?.onLoop { $0.tick() } }
        tickTimer = timer
        // A tick that was due soon stays: it's the last word on what ran.
        guard !timer.isScheduled || isIdleTick && !isIdle else { return }
        isIdleTick = isIdle
        timer.schedule(at: .now + (isIdle ? .seconds(60) : configuration.progressInterval ?? .seconds(1)))
    }

    /// Whether the next tick is the word a minute.
    private var isIdleTick = false
    private var ticks = 0

    private func tick() {
        let now = MonotonicTime.now
        if configuration.progressInterval != nil { reportJobs() }
        accountAll()
        ticks += 1
        let perSecond = configuration.progressInterval.map { max(1, Int(1 / max(0.1, $0.inSeconds))) } ?? 1
        let isLast = running.isEmpty && !hasNews
        if isIdleTick || isLast || ticks % perSecond == 0 { reportBatches(now) }
        scheduleTick()
    }

    func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64? = nil) {
        guard let name = batches[batch]?.name, hub.isHeard else { return }
        hub.send(QueueEvent(time: WallClock.milliseconds, batch: name, cursor: cursor, kind: kind))
    }
}
