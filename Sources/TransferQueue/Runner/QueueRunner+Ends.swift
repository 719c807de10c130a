import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferScheduling
import TransferStore
import TransferUpload

// The exit of a job from the run. Its exchange ends, it leaves through one function, and its end or next step is
// recorded.
extension QueueRunner {
    // MARK: Ends of exchanges

    /// Handles the end of the exchange that began a job. Other connections of its file may still be under way.
    func leadEnded(_ job: RunningJob, _ outcome: ExchangeOutcome) {
        job.start = outcome.start
        if !segmented.leadEnded(job, outcome, on: self) { exchangeEnded(job, outcome) }
        pump()
    }

    func exchangeEnded(_ job: RunningJob, _ outcome: ExchangeOutcome) {
        let moved = job.record.spec.isUpload ? job.meter.acknowledged : outcome.received
        batches[job.record.batch]?.settledBytes += job.settleExchange(moved)
        following.account(job, moved: job.movedInAll, on: self)
        judgeLink(job, outcome)
        job.way.wait = AnswerWait(outcome, job.path)
        if outcome.head != nil { job.sending.wasAnswered = true }
        if job.sources.isOpen(job.url) {
            job.sources.closed(job.url, bytes: outcome.received, now: MonotonicTime.now.inSeconds)
        }
        job.sending.finalURL = Redaction.url(outcome.finalURL)
        switch (job.record.spec.isUpload ? outcome.receipt : outcome.result, job.ready) {
        case (.success(let head), .upload(let file)): dialogues.answered(job, file, head, outcome, on: self)
        case (.success(let head), .download(let ready)): downloads.succeeded(job, ready, head, outcome, on: self)
        case (.success, .copy), (.success, nil): break
        case (.failure(let error), .download(let ready)): downloads.failed(job, ready, error, outcome, on: self)
        case (.failure(let error), _): dialogues.failed(job, error, outcome, on: self)
        }
    }

    /// Makes a refusal behind a redirect transient. The redirected URL may be signed and expired, so the job's own URL
    /// is asked once more for another.
    func refusedElsewhere(
        _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome
    ) -> TransferError {
        guard let status = error.status, StatusRule.mayBeOfSignature(status), !error.isTransient,
            job.record.spec.settings.retry.statusCodes == nil, outcome.metrics.redirects > 0,
            outcome.finalURL != job.object?.url ?? job.url,
            running.traces.asksOwnURLAgain(job.candidate.id)
        else { return error }
        var error = error
        // The retry rule follows the status while there is one.
        (error.isTransient, error.cause) = (true, nil)
        return error
    }

    /// Handles a failed attempt: it is repeated later or elsewhere, or is final.
    ///
    /// - Parameter left: The bytes that it left of the partial file.
    func failed(
        _ job: RunningJob, _ error: TransferError, bodyLeft: Bool, left: PartialFileOutcome = .untouched,
        progressed: Bool = false
    ) {
        let resume = left.record(after: job.record.resume)
        job.record.resume = resume
        let error = tools.leases.judged(error, of: job.record.spec, builder(of: job).secrets)
        var attempt = FailedAttempt(of: job, error, bodyLeft: bodyLeft)
        if job.stop == nil {
            if attempt.isReplaced { return leave(job, .replaced(isChanged: true)) }
            if attempt.mayRepeat {
                if let reason = following.fault(job, attempt.error, on: self) {
                    return following.wait(job, reason, resume: resume, progressed: progressed, on: self)
                }
                if let reason = attempt.clockFault, !configuration.isClockSynchronised() {
                    return leave(
                        job,
                        .wait(
                            .clock(reason), after: configuration.clockInterval, resume: resume, startsCountAnew: false))
                }
                if OpenFiles.areLacking(attempt.error) {
                    guard let alone = waitForDescriptors(job, attempt.error, resume: resume) else { return }
                    attempt.error = alone
                }
            }
        }
        if progressed { attempt.countAnew() }
        attempt.repeatsOthers = admission.scheduler.repeatsOthers(
            job.candidate.id, at: job.candidate.lane.origin, since: job.started)
        tellOrigin(job, attempt)
        attempt.boundWait()
        // An empty body has no byte whose departure is counted.
        if !attempt.mayRepeat { job.sending.mayBeComplete = true }
        if let stop = job.stop { return leave(job, for: stop, resume: resume) }
        // A user stopped the job and reconsidered meanwhile.
        if attempt.error.code == .cancelled { return leave(job, for: .release(.queued), resume: resume) }
        follow(attempt, of: job, resume)
    }

    private func follow(_ attempt: FailedAttempt, of job: RunningJob, _ resume: ResumeData?) {
        let origin = job.candidate.lane.origin
        // A job that waits behind its origin's pause anyway keeps its place among the jobs of its folder.
        let isEndless = job.isEndless(in: folders.registry)
        let isHeld =
            isEndless && attempt.error.scope == .origin && admission.scheduler.pause(of: origin, now: .now) != nil
        let (verdict, exhaustion) = attempt.verdict(isEndless: isEndless, isHeld: isHeld, random: configuration.random)
        if let exhaustion {
            admission.scheduler.originExhausted(
                origin, exhaustion, patience: RetryHorizon(job.record.spec.settings.retry.rule))
        }
        switch verdict {
        case .again(let record, let delay, let error):
            sourceFailed(job, error, isSpent: record.hasSpent(job.record.mirror))
            leave(job, .retry(record, after: delay, because: error, resume: resume))
        case .over(let error, let attempts, let isOurs):
            sourceFailed(job, error, isSpent: true)
            leave(job, .failed(error, attempts: attempts, host: isOurs ? nil : error.failedHost ?? host(of: job)))
        }
    }

    /// Handles a job whose origin is given up: it turns to another mirror, or fails without an attempt.
    func refuse(_ candidate: Scheduler.Candidate, _ error: TransferError) {
        guard var record = admission.take(candidate.id) else { return }
        preparing.drop(candidate.id)
        let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
        let job = RunningJob(
            candidate: candidate, record: record, started: .now, url: url,
            sources: running.traces.sources(of: candidate.id))
        var refusal = TransferError(
            .originUnreachable, "\(error.message); given up for the other jobs of this host too", cause: error.cause,
            isTransient: true, scope: .origin)
        refusal.proxy = error.proxy
        record.spendMirror()
        sourceFailed(job, refusal, isSpent: true)
        guard let mirror = record.nextMirror(of: record.spec.urls.count) else {
            return leave(job, .failed(refusal, attempts: record.attempts, host: error.failedHost ?? host(of: job)))
        }
        record.mirror = mirror
        leave(job, .retry(record, after: .zero, because: refusal, resume: record.resume))
    }

    func tellOrigin(_ job: RunningJob, _ attempt: FailedAttempt) {
        let origin = job.candidate.lane.origin
        if attempt.isCrowded, admission.scheduler.originCrowded(origin, since: job.started, now: .now) {
            return admission.scheduler.originAnswered(origin)
        }
        let refusal = attempt.refusal
        if let refusal { admission.scheduler.originRefused(origin, refusal, since: job.started, now: .now) }
        let isEndless = job.isEndless(in: folders.registry)
        switch attempt.news(of: origin, isEndless: isEndless) {
        case .failed:
            let before = admission.scheduler.pause(of: origin, now: .now)
            admission.scheduler.originFailed(
                origin, job: job.candidate.id, attempt.error, rule: job.record.spec.settings.retry.rule,
                isEndless: isEndless, since: job.started, random: configuration.random(), now: .now)
            sharePause(of: origin, longerThan: before?.remaining)
            if before == nil { announcePause(of: origin, job.record.batch) }
        case .answered: admission.scheduler.originAnswered(origin, now: refusal == nil ? .now : nil)
        case .none: admission.scheduler.originAbandoned(origin, job: job.candidate.id, now: .now)
        }
    }

    func announcePause(of origin: String, _ batch: Int64) {
        guard let (error, remaining) = admission.scheduler.pause(of: origin, now: .now) else { return }
        emit(batch, .batchWaiting(.held(by: origin, error, remaining: remaining), transfers: 0))
    }

    /// Publishes a pause that a server requested, because it also binds other processes, now and later.
    private func sharePause(of origin: String, longerThan known: Duration?) {
        guard let (error, remaining) = admission.scheduler.pause(of: origin, now: .now), error.retryAfter != nil,
            remaining > known ?? .zero
        else { return }
        let pause = StoredPause(
            origin: origin, remaining: remaining, status: error.serverStatus, message: error.message, proxy: error.proxy
        )
        withStore {
            try $0.publish(.pause(pause))
        } then: { _, _ in
        }
    }

    /// Handles a job that found no file descriptor, for which its server and file are not to blame. Other jobs will
    /// release theirs, and fewer are started.
    ///
    /// - Returns: `nil` if the job now waits for the others. If there are none, the failure: transient with a delay and
    ///   a limit, or final if the descriptor limit is too low for any transfer.
    func waitForDescriptors(_ job: RunningJob, _ error: TransferError, resume: ResumeData?) -> TransferError? {
        let now = MonotonicTime.now
        let others = admission.scheduler.active.count - (admission.scheduler.active[job.candidate.id] == nil ? 0 : 1)
        let wasAlone = admission.descriptors.noted(others: others + downloads.unsaved, started: job.started, now: now)
        let limit = OpenFiles.limit
        let advice =
            limit == .max ? "" : " (the limit is \(limit): raise it with ulimit -n, or LimitNOFILE= in a unit)"
        let narrowed = max(1, others)
        if admission.scheduler.openFiles.map({ narrowed < $0.places }) ?? true, admission.descriptors.tells(now: now) {
            let count = CountText.words(narrowed, "transfer")
            emit(
                job.record.batch,
                .batchWaiting(
                    .openFiles("\(error.message); \(count) at a time for now, no attempt is spent\(advice)"),
                    transfers: 0))
        }
        admission.scheduler.descriptorsLacked(others: others, now: now)
        preparing.forgetAhead()
        downloads.saveGroup(on: self)
        // Only idle connections can still hold descriptors.
        if others == 0 { engine.renewNetwork() }
        guard wasAlone else {
            leave(
                job,
                .wait(
                    .openFiles(error.message), after: DescriptorLack.settles, resume: resume, startsCountAnew: false))
            return nil
        }
        var error = error
        error.isTransient = DescriptorLack.canPass(limit: limit, number: error.errno)
        error.scope = .transfer
        error.retryAfter = error.isTransient ? .seconds(1) : nil
        error.message += advice
        return error
    }

    // MARK: The exit

    /// Ends this process's hold on a job. Only here are its slot, its origin's probe, its partial file's lock and the
    /// recorded version released, and its record made.
    ///
    /// The scheduler is notified before it learns what the end says of the origin (`originAnswered`, `originFailed`).
    /// Claimed jobs that have not started leave here too.
    func leave(_ job: RunningJob, _ outcome: JobOutcome) {
        let id = job.candidate.id
        if !outcome.isSettled { dialogues.takeBackVersion(job) }
        running[id] = nil
        if !outcome.lackedDescriptors { admission.descriptors.found() }
        if !outcome.isSettled, !job.sources.isEmpty { running.traces.keep(job.sources, of: id) }
        downloads.dropRecord(of: id)
        if case .kept = outcome, !job.hasBegun {
            admission.scheduler.transferEnded(at: job.candidate.lane.origin, now: .now)
        }
        admission.scheduler.ended(job.candidate)
        // The call changes nothing if an answer or a failure was reported.
        admission.scheduler.originAbandoned(job.candidate.lane.origin, job: id, now: .now)
        giveBackFile(of: job, outcome)
        record(job, outcome)
    }

    /// Ends this process's hold on a job that was stopped.
    func leave(_ job: RunningJob, for stop: RunningJob.Stop, resume: ResumeData? = nil) {
        leave(job, JobOutcome(stop, of: job, host: host(of: job), resume: resume))
    }

    private func giveBackFile(of job: RunningJob, _ outcome: JobOutcome) {
        guard case .download(let ready) = job.ready, !outcome.isSettled else { return }
        if outcome.isByCommand || !job.hasBegun { ready.part.discardIfEmpty() }
        ready.part.unlock()
        if ready.part.isNamed { census.noteLeft(ready.part.path) }
    }

    private func record(_ job: RunningJob, _ outcome: JobOutcome) {
        let record = job.record
        let outcome = left(outcome, job)
        // A process that is lost after the end is stored leaves parts that the server removes in its own time.
        if case .replaced = outcome, let upload = record.upload {
            abandon(AbandonedUpload(id: record.id, spec: record.spec, upload: upload))
        }
        if let news = outcome.news(of: record) { emit(record.batch, news) }
        // If machines share the folder, another process watches it, and the default delays apply.
        let usual = store.sharesBatches ? FailedFiles.Delays() : nil
        let times = record.watched == nil ? nil : folders[record.batch]?.times.again ?? usual
        switch outcome.entry(of: job, again: times, change: changeTakes) {
        case .end(let end): recording.add(end)
        case .step(let step): recording.add(step)
        }
    }

    /// Leaves a version that is missing on this machine to the processes that watch the folder, because they may see
    /// it.
    private func left(_ outcome: JobOutcome, _ job: RunningJob) -> JobOutcome {
        if case .replaced = outcome, isElsewhere(job) { .leftToWatcher } else { outcome }
    }

    func isElsewhere(_ job: RunningJob) -> Bool {
        job.isElsewhere(in: folders.registry, isShared: store.sharesBatches)
    }

    // MARK: Records

    func didRecord(_ ends: [JobEnd], _ steps: [JobStep], _ recorded: RecordedGroup) {
        for (end, cursor) in zip(ends, recorded.cursors) {
            if end.again == nil { running.secrets[end.id] = nil }
            running.traces.forget(end.id)
            batches.announce(end, cursor, on: self)
        }
        folders.tell(ends, recorded.watched, on: self)
        for batch in Set(ends.filter(\.wasCancelled).map(\.batch)) { abandonCancelled(batch) }
        for skipped in recorded.skipped { batches.announce(skipped, on: self) }
        for batch in recorded.hooked { hooks.came(batch, on: self) }
        for (lane, count) in recorded.unblocked { becameReady(lane, count) }
        for step in steps {
            let lane = Lane(batch: step.batch, origin: step.origin, network: step.network, tags: step.tags)
            switch step.state {
            case .queued where state.stopping == nil && !step.isForWatcher:
                becameReady(lane, 1, overtakes: folders[step.batch] != nil)
            case .waiting:
                admission.sleep(
                    SleepingJob(
                        id: step.id, lane: lane, due: step.due ?? .now, isAsked: step.isAsked,
                        disk: step.error.flatMap { $0.isFullDisk ? $0.message : nil }))
            default: break
            }
        }
    }
}

// The end of a run that lets its transfers end first.
extension QueueRunner {
    /// Starts no more jobs, and stops the run when those under way have ended, or after that time.
    ///
    /// - Parameter begun: A function that gets the number of jobs under way.
    func drain(within limit: Duration, begun: @Sendable (Int) -> Void) async -> DrainReport {
        let underWay = running.count
        begun(underWay)
        guard state.stopping == nil, !state.isDraining else { return DrainReport(underWay: underWay, left: underWay) }
        let limit = DrainRule.limit(limit, underWay: underWay, isStoreAway: store.isAway)
        let left = await withCheckedContinuation { waiter in
            let end = MonotonicTime.now + limit
            state.waitForDrain(waiter, until: end)
            guard limit > .zero else { return stop(.asked) }
            timer(.drain).schedule(at: end)
            pump()
        }
        return DrainReport(underWay: underWay, left: left)
    }

    /// Stops the run when all jobs have left it and their ends are recorded. The wait for the records alone is short.
    func continueDrain() {
        guard state.isDraining, running.isEmpty, downloads.unsaved == 0, !downloads.areBeingSaved else { return }
        if state.storeCalls == 0, recording.isEmpty { return stop(.asked) }
        if let end = state.shortenDrain(now: .now) { timer(.drain).schedule(at: end) }
    }

    /// Gives claimed jobs back that have not started.
    func releaseUnstarted() {
        preparing.forgetAhead()
        let ids = admission.takeAll()
        guard !ids.isEmpty else { return }
        // Claimed again, they would exist twice.
        _ = admission.scheduler.remove { _ in true }
        withStore {
            try $0.release(ids)
        } then: { _, _ in
        }
    }
}

extension FailedAttempt {
    init(of job: RunningJob, _ error: TransferError, bodyLeft: Bool) {
        let isPreparing = if case .preparing = job.phase { true } else { false }
        self.init(
            of: job.record, error, bodyLeft: bodyLeft, isPreparing: isPreparing, hadBegun: job.start != nil,
            wasAnswered: job.sending.wasAnswered)
    }
}

extension QueueRunner: CopyHost {
    func seenSource(of job: RunningJob) -> RemoteVersion? { running.traces.source(of: job.candidate.id) }

    func noteSeen(_ source: RemoteVersion, of job: RunningJob) { running.traces.keep(source, of: job.candidate.id) }
}

extension QueueRunner {
    func pause(of origin: String) -> Duration? { admission.scheduler.pause(of: origin, now: .now)?.remaining }
}
