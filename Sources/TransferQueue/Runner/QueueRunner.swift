import Logging
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferReachability
import TransferScheduling
import TransferStore

/// The runner of the queue, which performs the scheduler's decisions. It claims jobs, prepares them, passes them to the
/// engine, saves the results and records the ends. It is pinned to its own loop; workers do all blocking work.
actor QueueRunner: LoopActor {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let store: any JobStore & RunMemory
    let tools: RunTools

    // The parts, each with its own state.
    var state = RunState()
    var admission: Admission
    var running = RunningJobs()
    let transfers: TransferParts
    let recording = Recording()
    let batches = RunningBatches()
    let folders = WatchedBatches()
    let contacts: RunContacts
    let following: NetworkFollower

    init(
        _ configuration: QueueConfiguration, store: any JobStore & RunMemory, engine: any ExchangePerformer,
        loop: EventLoop,
        hub: EventHub, accept: JobJudge? = nil
    ) {
        self.store = store
        self.loop = loop
        tools = RunTools(configuration, engine: engine, hub: hub, accept: accept)
        let limits = Scheduler.Limits(configuration.limits)
        let ahead: ClaimsAhead = store.sharesBatches ? .shared(concurrency: limits.concurrency) : .alone
        admission = Admission(
            Scheduler(limits: limits, ahead: ahead, isShared: store.sharedRules != nil, now: .now))
        transfers = TransferParts(tools)
        contacts = RunContacts(tools)
        var options = NetworkMonitor.Options()
        options.meteredRule = configuration.meteredRule
        following = NetworkFollower(monitor: NetworkMonitor(loop: loop, options: options), engine: engine)
        state.rates = RateBounds(configuration.limits)
    }

    /// Sets the limits of transfers that start from now on.
    func setLimits(_ limits: BatchLimits) {
        state.rates = RateBounds(limits)
        admission.scheduler.setLimits(Scheduler.Limits(limits), now: .now)
    }

    // MARK: The store

    /// Does `work` on the store's thread and passes the result back.
    func withStore<Value: Sendable>(
        _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
        then: @escaping @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        state.storeCalls += 1
        tools.storeWorker.execute { [store, loop, hub] in
            let start = MonotonicTime.now
            let result = Result { try work(store) }
            hub.measurements.send(Measurement(.storeCommit, [], .time((.now - start).inSeconds)))
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

    /// Stops the queue because of a failure of its database, and reports the reason. Without its database, the queue
    /// cannot keep its guarantees.
    func storeFailed(_ error: any Error) {
        if error is LeaseLost { measure(Measurement(.leasesLost, [], .add(1))) }
        let fault = store.fault(error)
        let words = (fault as? TransferError)?.message ?? "the queue's database failed: \(fault)"
        if state.fail(fault) { configuration.logger.error("\(words)") }
        stop(.asked)
    }

    /// Takes the store's notice of other processes.
    func hear(_ news: StoreNotification) {
        switch news {
        case .changed: if !state.isDraining { lookForWork() }
        case .commanded: commands.takeAll(on: self)
        case .revoked: releaseRevoked()
        case .watched: reporter.isWatched()
        case .paused: batches.loadPauses(on: self)
        case .unpaused:
            admission.scheduler.openGates()
            pump()
        case .leaseIsOver(let error): storeFailed(error)
        }
    }

    /// Returns when all earlier calls to the store are done and their answers were handled.
    func storeTurn() async {
        await withCheckedContinuation { waiter in
            withStore { _ in
            } then: { _, _ in
                waiter.resume()
            }
        }
    }

    // MARK: The pump

    /// Starts all jobs that may start. It is called after every event, and runs once for all events of a turn.
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
        if state.isDraining { releaseUnstarted() }
        // The number is limited because each finished download holds a descriptor until it is durable.
        if downloads.unsaved < min(1024, admission.scheduler.openFiles?.places ?? .max) {
            var wants: [LaneWant] = []
            var asks: [SharedRateTokens.Ask] = []
            var places: [SharedPermits.Ask] = []
            for action in admission.scheduler.decide(now: .now) {
                switch action {
                case .start(let candidate): begin(candidate)
                case .refuse(let candidate, let error): refuse(candidate, error)
                case .claim where state.isDraining: break
                case .claim(let lane, let count): wants.append(LaneWant(lane: lane, limit: count))
                case .reserve(let ask): asks.append(ask)
                case .share(let ask): places.append(ask)
                }
            }
            claim(wants)
            reserve(asks)
            share(places)
        }
        preparing.flush(on: self)
        downloads.flushRecords(on: self)
        if running.isEmpty { preparing.rest() }
        scheduleWake()
        scheduleLevels()
        downloads.scheduleSave(isLast: admission.scheduler.isIdle && state.storeCalls == 0, on: self)
        recording.flush(on: self)
        if state.storeCalls == 0, recording.isEmpty, abandonments.isEmpty, !state.isFeeding { batches.finish(on: self) }
        if state.storeCalls == 0, hooks.isEmpty { state.tellHooksDone() }
        reporter.scheduleTick(on: self)
        continueDrain()
    }

    /// Requests start times from the store for origins with a shared rate limit.
    private func reserve(_ asks: [SharedRateTokens.Ask]) {
        guard !asks.isEmpty else { return }
        withStore {
            try $0.sharedRules?.reserveStarts(asks) ?? []
        } then: { runner, given in
            for starts in given { runner.admission.scheduler.startsAreGiven(starts) }
        }
    }

    /// Requests places from the store for origins with a shared number of transfers.
    private func share(_ asks: [SharedPermits.Ask]) {
        guard !asks.isEmpty else { return }
        withStore {
            try $0.sharedRules?.sharePlaces(asks) ?? []
        } then: { runner, given in
            for places in given { runner.admission.scheduler.placesAreGiven(places) }
        }
    }

    private func scheduleWake() {
        let now = MonotonicTime.now
        var next = admission.scheduler.nextWake
        if let sleeper = admission.nextDue {
            let time = max(now, sleeper)
            next = min(next ?? time, time)
        }
        guard let next else { return timer(.wake).cancel() }
        timer(.wake).schedule(at: next)
    }

    private func scheduleLevels() {
        let timer = timer(.levels)
        guard !timer.isScheduled, !running.isEmpty, admission.scheduler.hasLevelsToLookAt else { return }
        timer.schedule(at: .now + .milliseconds(250))
    }

    func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?, route: JobRoute?) {
        guard let name = batches[batch]?.name, hub.isHeard else { return }
        hub.send(QueueEvent(time: WallClock.milliseconds, batch: name, cursor: cursor, kind: kind, route: route))
        reporter.gauges.heard(kind, on: self)
    }

    // MARK: Timers

    func timer(_ which: RunTimer) -> LoopTimer {
        state.timers.timer(which) { loop.makeTimer { [weak self] in self?.onLoop { $0.fired(which) } } }
    }

    private func fired(_ timer: RunTimer) {
        switch timer {
        case .wake: wake()
        case .save:
            downloads.saveGroup(on: self)
            pump()
        case .tick: reporter.tick(on: self)
        case .record: pump()
        case .stop:
            // A query of another caller must not hold the end of a run that cannot continue anyway.
            if state.isBeginning || state.failure != nil { store.cancelWaits() }
            endStopping()
        case .drain: stop(.asked)
        case .network:
            following.review(on: self)
            pump()
        case .levels:
            for job in running.values {
                following.account(job, moved: job.movedInAll, on: self)
                if job.stop == nil { admission.scheduler.left(job.total.map { $0 - job.position }, of: job.candidate) }
            }
            admission.scheduler.lookAtLevels(now: .now)
            pump()
        case .segments: segmented.tick(on: self)
        case .uploads: dialogues.tick(on: self)
        case .copies: copies.tick(on: self)
        case .stalls: following.lookForStalls(on: self)
        case .abandonment(let number):
            state.timers.forget(timer)
            abandonments.again(number, on: self)
            pump()
        case .hooks:
            hooks.go(on: self)
            pump()
        }
    }

    // MARK: The end of a run

    /// Waits until every batch has ended, or the run was stopped.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            state.waitForEnd(continuation)
            // A shared folder has no batch that was staged for this run.
            if store.sharesBatches { folders.addAll(on: self) }
            pump()
        }
    }

    /// Checkpoints all transfers under way and releases the batches. The next run continues the rest.
    func stop(_ reason: RunState.StopReason) {
        guard state.stopping == nil else { return }
        state.stopping = reason
        timer(.drain).cancel()
        state.tellDrained(left: running.count)
        preparing.forgetAhead()
        hooks.stop(on: self)
        for job in running.values { interrupt(job, .release(.queued)) }
        downloads.saveGroup(on: self)
        // A slower disk keeps what it has by then, and the next run finds it.
        timer(.stop).schedule(at: .now + .milliseconds(1500))
        finishStopping()
    }

    func interrupt(_ job: RunningJob, _ stop: RunningJob.Stop) {
        if case .talking = job.phase { return dialogues.breakOff(job, stop, on: self) }
        job.stop = stop
        for handle in job.handles { handle.cancel() }
    }

    /// Ends the run once no transfer is under way any longer.
    func finishStopping() {
        downloads.saveGroup(on: self)
        recording.flush(on: self)
        guard running.isEmpty, !downloads.areBeingSaved, state.storeCalls == 0, recording.isEmpty, hooks.isIdle else {
            return
        }
        releaseUnstarted()
        guard state.storeCalls == 0 else { return }
        let open = batches.open
        guard open.isEmpty else {
            // The last report on the remaining jobs.
            reporter.reportBatches(.now, on: self)
            return batches.stop(open, on: self)
        }
        endStopping()
    }

    func endStopping() {
        state.tellEnd()
        recording.endWaits()
    }

    /// Returns when all messages for hooks were delivered or given up, or when the run is over.
    func hooksReported() async {
        guard state.stopping == nil else { return }
        await withCheckedContinuation { waiter in
            state.waitForHooks(waiter)
            pump()
        }
    }

    /// Prepares for a later run.
    func endRun() {
        state.stopping = nil
        hooks.endRun()
        timer(.stop).cancel()
        following.stop(on: self)
        state.isEndless = false
        reporter.forget()
        preparing.forgetAhead()
        batches.forgetEnded()
    }

    // MARK: Entry points of the queue

    /// The reason why the run could not continue.
    var failure: (any Error)? { state.failure }

    /// Whether answers of the store are still to come.
    var hasStoreCalls: Bool { state.storeCalls > 0 }

    /// Opens the socket on which other processes ring.
    func listen(folder: String, runtime: String?) { commands.listen(folder: folder, runtime: runtime, on: self) }

    func closeControl() { commands.close() }

    /// Performs the commands to this process, and returns when they are done.
    func performCommands() async {
        commands.takeAll(on: self)
        repeat { await storeTurn() } while !commands.isIdle
    }

    /// Does a run's first work on the store. A stop waits for it only as long as for the disk.
    func beginning<Value: Sendable>(_ work: @Sendable () async throws -> Value) async rethrows -> Value {
        state.isBeginning = true
        defer { state.isBeginning = false }
        return try await work()
    }

    /// Makes the run continuous, so that it continues when there is nothing to do.
    func runForever() {
        state.isEndless = true
        folders.addAll(on: self)
        hub.ring()
    }

    /// Returns whether this run works on the batch, or would if it had jobs.
    func runs(_ batch: String) -> Bool {
        state.stopping == nil && (state.isEndless || batches.all.contains { $0.name == batch })
    }

    /// Sets whether jobs are still being added to a running batch.
    func setFeeding(_ isFeeding: Bool) {
        state.isFeeding = isFeeding
        pump()
    }

    /// Counts a job that could not even be read.
    func addFailure(_ failure: JobFailure) {
        batches.add(failure, on: self)
    }

    func submitted(_ staged: StagedJobs) {
        running.secrets.merge(staged.secrets) { $1 }
        guard state.isEndless || batches[staged.batch.id] != nil else { return }
        add(staged.batch, secrets: staged.secrets, options: RunOptions())
        pump()
    }
}
