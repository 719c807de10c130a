import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferReachability
import TransferScheduling
import TransferStore
import TransferUpload

// The runner as the host of its parts.

extension QueueRunner {
    nonisolated var configuration: QueueConfiguration { tools.configuration }
    nonisolated var engine: any ExchangePerformer { tools.engine }
    nonisolated var hub: EventHub { tools.hub }
    nonisolated var builder: RequestBuilder { tools.builder }

    var census: FolderCache { transfers.census }
    var preparing: JobPreparing { transfers.preparing }
    var credentials: CredentialProviders { transfers.credentials }
    var downloads: Downloads { transfers.downloads }
    var segmented: SegmentedDownloads { transfers.segmented }
    var mixChecks: MixChecks { transfers.mixChecks }
    var sources: SourceChecks { transfers.sources }
    var dialogues: UploadDialogues { transfers.dialogues }
    var abandonments: UploadAbortRequests { transfers.abandonments }
    var copies: Copies { transfers.copies }

    var reporter: Reporter { contacts.reporter }
    var hooks: Hooks { contacts.hooks }
    var commands: CommandPerformer { contacts.commands }
}

extension QueueRunner: UploadHost {
    func underWay(_ id: Int64) -> RunningJob? { running[id] }

    func serverAnswered(_ job: RunningJob) { admission.scheduler.answered(job.candidate) }

    func judgeLink(_ job: RunningJob, _ outcome: ExchangeOutcome) {
        measure(firstByteOf: outcome)
        following.judgeLink(job, outcome, on: self)
    }

    func cameFurther(_ job: RunningJob, from start: Int64, to position: Int64) -> Bool {
        running.traces.cameFurther(job.candidate.id, from: start, to: position)
    }

    func count(_ job: RunningJob, moved bytes: Int64) {
        batches[job.record.batch]?.settledBytes += job.settle(bytes)
        following.account(job, moved: job.pace.settled, on: self)
    }

    func uploaded(_ job: RunningJob, _ source: UploadBytes, _ result: TransferResult, _ digest: Checksum?) {
        originAnswered(job)
        job.result = result
        leave(
            job,
            .done(
                job.receipt(
                    in: batches[job.record.batch]?.name, path: source.place, bytes: source.size, digest: digest),
                source.file?.stamp ?? FileStamp(inode: nil, size: source.size, modified: 0, changed: nil)))
    }

    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool) {
        failed(job, error, bodyLeft: bodyLeft, left: .untouched, progressed: progressed)
    }

    func leave(_ job: RunningJob, for stop: RunningJob.Stop) { leave(job, for: stop, resume: nil) }
}

extension QueueRunner: GaugeHost {
    var isMeasured: Bool { hub.measurements.isHeard }
    var connections: Int { engine.connections }
    var pausedHosts: Int { admission.scheduler.originWaits().count }
    var links: NetworkSnapshot { following.network.snapshot }

    func measure(_ measurements: [Measurement]) { hub.measurements.send(measurements) }

    func measure(_ measurement: @autoclosure () -> Measurement) { hub.measurements.send(measurement()) }
}

extension PartHost {
    /// Measures the time to the first byte of an answer.
    func measure(firstByteOf outcome: ExchangeOutcome) {
        guard outcome.head != nil, outcome.metrics.firstByte > 0 else { return }
        measure(Measurement(.firstByte, [], .time(outcome.metrics.firstByte)))
    }
}

extension QueueRunner: UploadAbortHost {
    var knownSecrets: [Int64: JobSecrets] { running.secrets }
    var unreportedAborts: [Int64: TransferError] { abandonments.failures }

    func abandon(_ uploads: [AbandonedUpload]) { for upload in uploads { abandon(upload) } }

    func abandon(_ upload: AbandonedUpload) { abandonments.abandon(upload, on: self) }

    func abandonCancelled(_ batch: Int64) { abandonments.abandonCancelled(batch, on: self) }

    func abandonTaken() { abandonments.abandonTaken(on: self) }
}

extension QueueRunner: NetworkHost {
    var jobs: Dictionary<Int64, RunningJob>.Values { running.values }
    var openBatches: [Int64] { batches.open }
    var hasNoBatches: Bool { batches.isEmpty }
    var networksInUse: Set<String> {
        admission.scheduler.networks.union(running.values.map(\.candidate.lane.network))
            .union(recording.steps.map(\.network)).union(admission.sleepers.map(\.lane.network))
    }

    var gate: NetworkGate { admission.scheduler.network }

    func noteMoved(_ job: RunningJob, _ bytes: Int64) {
        admission.scheduler.moved(bytes, at: job.candidate.lane.origin)
    }

    func setGate(_ gate: NetworkGate) { admission.scheduler.setNetwork(gate) }

    func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool { admission.scheduler.network.isOpen(lane, reach) }

    func isDirect(_ host: HostUnderRules) -> Bool { admission.scheduler.network.direct.contains(host) }

    func closedLanes() -> [Lane] { admission.scheduler.closedLanes() }

    func batchesHeld(under network: String) -> Set<Int64> { admission.scheduler.batchesHeld(under: network) }

    func batchesThatGoOn(under network: String) -> Set<Int64> { admission.scheduler.batchesThatGoOn(under: network) }

    func machines(under networks: Set<String>, _ gate: NetworkGate) -> Set<HostUnderRules> {
        var machines = admission.scheduler.hosts(under: networks)
        for candidate in admission.scheduler.kept(by: gate) where networks.contains(candidate.lane.network) {
            machines.formUnion(MirrorRotation(of: candidate, admission.claimed[candidate.id], builder).machines)
        }
        for job in running.values where networks.contains(job.candidate.lane.network) {
            guard let host = job.candidate.reach.host else { continue }
            machines.insert(HostUnderRules(host: host, network: job.candidate.lane.network))
        }
        return machines
    }

    /// Moves jobs with unreachable servers to other mirrors. No attempt is spent: no server was asked.
    func turnToMirrors() {
        var turned: [Scheduler.Candidate] = []
        for candidate in admission.scheduler.kept(by: admission.scheduler.network) {
            let mirrors = MirrorRotation(of: candidate, admission.claimed[candidate.id], builder)
            guard let turn = mirrors.firstOpen(admission.scheduler.network) else { continue }
            admission.turn(candidate.id, to: turn.mirror)
            turned.append(candidate.turned(to: turn.lane, turn.reach))
        }
        guard !turned.isEmpty else { return }
        let ids = Set(turned.map(\.id))
        _ = admission.scheduler.remove { ids.contains($0.id) }
        for candidate in turned { admission.scheduler.joined(candidate) }
    }

    /// Wakes jobs that wait for their next attempt. A wait that a server requested holds on every network.
    func wakeEarly() {
        admission.scheduler.openSilentGates()
        wake(admission.wakeUnasked())
    }
}

extension QueueRunner: BatchHost {
    func batchComes(with secrets: [Int64: JobSecrets]) {
        following.start(on: self)
        running.secrets.merge(secrets) { $1 }
        census.reset()
        admission.scheduler.reviveDead()
    }

    nonisolated var sharesBatches: Bool { store.sharesBatches }

    var awaitsOthers: Bool { sharesBatches && state.isEndless && state.stopping == nil }

    func lookForWork() { batches.lookForWork(on: self) }

    func backlogIs(_ lane: Lane, _ count: Int) { admission.scheduler.backlogIs(lane, count) }

    func setSleepers(of batch: Int64, _ jobs: [SleepingJob]) { admission.setSleepers(of: batch, jobs) }

    func restorePause(_ pause: StoredPause) {
        var error = TransferError(
            .httpStatus, pause.message, cause: pause.status.map { .http(status: $0) }, isTransient: true, scope: .origin
        )
        error.proxy = pause.proxy
        admission.scheduler.restorePause(of: pause.origin, error, until: .now + pause.remaining)
    }

    func review() { following.review(on: self) }

    func isWatched(_ batch: Int64) -> Bool { folders[batch] != nil }

    func forgetWork(of batch: Int64) {
        admission.scheduler.forget(batch: batch)
        admission.forgetSleepers(of: batch)
    }

    func onWorker<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping @Sendable (isolated QueueRunner, Value) -> Void
    ) {
        state.storeCalls += 1
        engine.workers.execute { [loop] in
            let value = work()
            loop.execute {
                self.onLoop { runner in
                    runner.state.storeCalls -= 1
                    then(runner, value)
                    runner.pump()
                }
            }
        }
    }

    func batchEnded() {
        guard !state.isEndless, state.storeCalls == 0, abandonments.isEmpty, hooks.isEmpty, batches.allHaveEnded else {
            return
        }
        state.tellEnd()
    }

    func add(
        _ batch: HeldBatch, secrets: [Int64: JobSecrets], options: RunOptions, tellsOfFailed: Bool = false,
        ready: [Lane: Int]? = nil
    ) {
        batches.add(batch, secrets: secrets, options: options, tellsOfFailed: tellsOfFailed, ready: ready, on: self)
    }

    func refreshFromStore(_ batch: Int64) { batches.refresh(batch, on: self) }

    func summary() -> RunSummary {
        var summary = batches.summary
        (summary.hooksFailed, summary.hooksLeft) = (hooks.failed, hooks.left)
        return summary
    }

    func tellHooks(of batch: Int64, revivesFailed: Bool) { hooks.came(batch, revivesFailed: revivesFailed, on: self) }
}

extension QueueRunner: ReportHost {
    func originWaits() -> Set<OriginWait> { admission.scheduler.originWaits() }

    func waits(of batch: Int64, busy: Int) -> BatchWaits {
        BatchWaits(
            left: batches[batch]?.remaining ?? 0, busy: busy,
            asleep: admission.sleepers.filter { $0.lane.batch == batch }, held: admission.scheduler.held(batch: batch),
            network: following.wait(of: batch, on: self))
    }

    func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)? {
        admission.scheduler.pause(of: origin, now: now)
    }

    func accountAll() { following.accountAll(on: self) }
}

extension QueueRunner: CommandHost {
    var steps: [JobStep] { recording.steps }

    func changeSteps(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void) {
        recording.changeSteps(where: isMeant, change)
    }

    func cancelSteps(where isMeant: (JobStep) -> Bool) { recording.cancelSteps(where: isMeant) }

    func forgetSleepers(of batch: Int64) { admission.forgetSleepers(of: batch) }

    func openGates() { admission.scheduler.openGates() }

    func reviveDead() { admission.scheduler.reviveDead() }

    func takeUp(_ batch: Int64) {
        guard state.isEndless, state.stopping == nil, !batches.isInRun(batch), let name = batches[batch]?.name else {
            return
        }
        withStore {
            try $0.hold(.named(name))
        } then: { runner, held in
            for batch in held { runner.add(batch, secrets: [:], options: RunOptions()) }
        }
    }
}

extension QueueRunner: SourceHost {
    func watch(of batch: Int64) -> SourceWatch? { SourceWatch(folders[batch], isShared: store.sharesBatches) }

    func settleSource(
        _ job: RunningJob, _ source: UploadBytes, then: @escaping @Sendable (isolated QueueRunner, Bool) -> Void
    ) {
        // A remote source is identified by its version, which each of its answers was checked against.
        guard let file = source.file else { return then(self, true) }
        sources.settle(job, file, on: self, then: then)
    }
}

extension QueueRunner: WatchHost, FolderHost {
    nonisolated func hear(_ news: FolderNotification, from uploader: FolderUploader) {
        onLoop { $0.folders.hear(news, from: uploader, on: $0) }
    }

    nonisolated func watchedSpecs() -> [WatchSpec] { onLoop { $0.folders.all.map(\.plan.spec) } }

    func reserveWatch(_ name: String) -> Bool { folders.reserve(name) }

    func releaseWatch(_ name: String) { folders.release(name) }

    func watchers() -> [FolderUploader] { folders.all }

    var isEndless: Bool { state.isEndless }
    var isStopping: Bool { state.stopping != nil }

    func remember(_ secrets: [Int64: JobSecrets]) { running.secrets.merge(secrets) { $1 } }

    func forgetSecrets(of job: Int64) { running.secrets[job] = nil }

    func join(_ batch: HeldBatch) { add(batch, secrets: [:], options: RunOptions()) }

    func tellWatch(of batch: Int64, _ tally: BatchTally) { folders.tell(batch, tally) }
}

extension QueueRunner: DownloadHost, PreparationHost {
    func originAnswered(_ job: RunningJob) {
        admission.scheduler.originAnswered(job.candidate.lane.origin, isPrompt: job.way.isPrompt, now: .now)
    }

    func originAbandoned(_ job: RunningJob) {
        admission.scheduler.originAbandoned(job.candidate.lane.origin, job: job.candidate.id, now: .now)
    }

    func freeSlot(_ job: RunningJob) { admission.scheduler.ended(job.candidate) }

    func noteTrace(_ job: RunningJob, _ news: AttemptHistory.News) { running.traces.note(job.candidate.id, news) }

    func claimed(_ id: Int64) -> JobRecord? { admission.claimed[id] }

    func upcoming(_ count: Int) -> [Scheduler.Candidate] { admission.scheduler.upcoming(count) }

    var startsAtOnce: Bool {
        admission.scheduler.limits.requestRate == nil && !admission.scheduler.limits.bounds.hasRates
    }
}

extension QueueRunner: SegmentHost {
    func spareConnections(to origin: String) -> Int { admission.scheduler.spareConnections(to: origin) }

    func mayMix(_ job: RunningJob) -> Bool { running.traces.mayMix(job.candidate.id) }

    func mayDivide(_ job: RunningJob) -> Bool { running.traces.mayDivide(job.candidate.id) }

    func connectionOpened(to origin: String) { admission.scheduler.connectionOpened(to: origin) }

    func connectionClosed(to origin: String) { admission.scheduler.connectionClosed(to: origin) }

    func connectionFailed(to origin: String, _ refusal: ConcurrencyBackoff.Refusal, since: MonotonicTime) {
        admission.scheduler.originRefused(origin, refusal, since: since, now: .now)
    }

    func partRequest(_ job: RunningJob, url: String, _ point: ResumePoint) throws(TransferError) -> ExchangeRequest {
        guard case .download(let download) = job.record.spec.work, case .download(var ready) = job.ready else {
            throw TransferError(.internalFault, "a part of something that is not downloaded")
        }
        let builder = builder(of: job)
        ready.resume = point
        ready.held = nil
        ready.replaced = nil
        var request = try builder.download(
            job.record.spec, download, url: url, object: builder.object(job.record.spec, url: url), ready: ready)
        // HTTP/2 would carry all parts over one connection.
        request.settings.route.speaksHTTP1Only = true
        if let link = job.way.link { request.settings.link = link }
        return request
    }
}

extension QueueRunner: MixHost {
    func findWrong(
        _ job: RunningJob, _ item: DownloadCompletion.Item, _ ready: ReadyDownload, _ mix: MixedFile,
        _ error: TransferError
    ) {
        mixChecks.begin(job, item, ready, mix, error, on: self)
    }
}

extension QueueRunner: CredentialHost {
    func register(_ name: String, _ provider: @escaping CredentialProvider) { credentials.register(name, provider) }
}

extension QueueRunner: HookHost {
    func endHooks(ofFolder batch: Int64) { hooks.folderEnded(batch, on: self) }

    /// Ends the hooks with the queue.
    func closeHooks() { hooks.close() }
}

extension QueueRunner: RecordHost {
    var isRecordAwaited: Bool { admission.scheduler.isIdle && state.storeCalls == 0 || state.stopping != nil }
}
