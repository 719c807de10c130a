import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop

/// What a run does with jobs that were complete before.
public struct RunOptions: Sendable, Hashable {
    /// Ask the servers whether complete files are still the newest.
    public var refresh = false
    /// Hash complete files again; those whose digest isn't known are fetched again.
    public var verify = false
    /// Replace the limits the queue was opened with.
    public var limits: BatchLimits?
    /// Note in each file, in an extended attribute, where it came from: for batches that are forgotten when they have
    /// ended. Files that took long to arrive bear the note anyway.
    public var marksFiles = false
    /// Fail downloads that nothing proves to be whole (``JobSpec/Download/strict``), also of jobs that don't say so.
    public var strict = false
    public init() {}
}

extension QueueRunner {
    /// Takes a batch, which this process holds, into the run.
    ///
    /// - Parameters:
    ///   - tellsOfFailed: What failed before any process could tell is told now.
    ///   - ready: How many jobs are ready, by lane, of a batch of which nothing else is known.
    func add(
        _ batch: HeldBatch, secrets: [Int64: JobSecrets], options: RunOptions, tellsOfFailed: Bool = false,
        ready: [Lane: Int]? = nil
    ) {
        following.start(on: self)
        memory.secrets.merge(secrets) { $1 }
        census.reset()
        scheduler.reviveDead()
        if let run = batches[batch.id], !run.isFinished {
            refreshFromStore(batch.id)
            return
        }
        if let ready { return add(batch, ready, options) }
        let goesOn = batches[batch.id] != nil
        batches[batch.id] = BatchRun(id: batch.id, name: batch.name, directory: batch.directory, now: .now)
        batches[batch.id]?.marksFiles = options.marksFiles
        batches[batch.id]?.isStrict = options.strict
        let id = batch.id
        withStore {
            try $0.tally(batch: id)
        } then: { runner, tally in
            let counts = tally.counts
            var totals = BatchTotals()
            totals.jobs = counts.values.reduce(0, +)
            if let watched = tally.watched {
                runner.batches[id]?.stamp = watched.stamp
                // Nobody goes through those that ended: the ledger has what became of their files.
                totals.kept = watched.counts[.done] ?? 0
                totals.failed = watched.counts[.failed] ?? 0
                totals.cancelled = watched.counts[.cancelled] ?? 0
            }
            // What ended badly in this run, before the batch was given more, stays as it is.
            if goesOn {
                totals.failed = counts[.failed] ?? 0
                totals.skipped = counts[.skipped] ?? 0
                totals.cancelled = counts[.cancelled] ?? 0
            }
            runner.batches[id]?.totals = totals
            // Until they have been looked at, those that were complete count as left.
            runner.batches[id]?.remaining = totals.jobs - counts.ended
            totals.kept = options.refresh ? 0 : counts[.done] ?? 0
            runner.emit(id, .batchStarted(totals))
            if tellsOfFailed, counts[.failed] ?? 0 > 0 { runner.tellOfFailed(id, counts) }
            runner.checkCompleted(id, after: 0, options)
        }
    }

    /// Takes a new batch into the run: nothing has to be asked of it.
    private func add(_ batch: HeldBatch, _ ready: [Lane: Int], _ options: RunOptions) {
        let run = BatchRun(id: batch.id, name: batch.name, directory: batch.directory, now: .now)
        run.marksFiles = options.marksFiles
        run.isStrict = options.strict
        run.totals.jobs = ready.values.reduce(0, +)
        run.remaining = run.totals.jobs
        run.isChecked = true
        run.isAsStaged = true
        batches[batch.id] = run
        emit(batch.id, .batchStarted(run.totals))
        for (lane, count) in ready { scheduler.backlogIs(lane, count) }
        following.review(on: self)
        loadPauses()
    }

    /// Staging gave all other failed jobs a new start: these ended with the process that had them.
    private func tellOfFailed(_ batch: Int64, _ counts: [JobState: Int]) {
        batches[batch]?.totals.failed = counts[.failed] ?? 0
        batches[batch]?.totals.skipped = counts[.skipped] ?? 0
        let name = batches[batch]?.name ?? ""
        withStore {
            try $0.failures(batch: name, limit: .max)
        } then: { runner, failures in
            for failure in failures {
                let error = TransferError(TransferError.Code(rawValue: failure.code), failure.message)
                runner.emit(
                    batch,
                    .failed(
                        JobFailure(
                            batch: name, job: failure.job, error: error, attempts: failure.attempts, host: failure.host,
                            again: failure.again.map { .milliseconds(max(0, $0 - WallClock.milliseconds)) })
                    ))
            }
        }
    }

    /// Goes through the complete jobs, a page at a time: what is still there is kept, the rest is done again.
    private func checkCompleted(_ batch: Int64, after last: Int64, _ options: RunOptions) {
        withStore {
            try $0.completed(batch: batch, after: last, limit: 512)
        } then: { runner, page in
            guard let end = page.last?.id else { return runner.didCheckCompleted(batch) }
            runner.judge(page, batch, options) { runner in runner.checkCompleted(batch, after: end, options) }
        }
    }

    private func judge(
        _ page: [CompletedJob], _ batch: Int64, _ options: RunOptions,
        then next: @escaping @Sendable (isolated QueueRunner) -> Void
    ) {
        let directory = batches[batch]?.directory ?? ""
        state.storeCalls += 1
        engine.workers.execute { [loop] in
            let verdicts = page.map { CompletedCheck.run($0, directory: directory, options) }
            loop.execute {
                self.onLoop { runner in
                    runner.state.storeCalls -= 1
                    runner.didJudge(page, verdicts, batch)
                    next(runner)
                    runner.pump()
                }
            }
        }
    }

    private func didJudge(_ page: [CompletedJob], _ verdicts: [CompletedCheck.Verdict], _ batch: Int64) {
        var again: [DestinationRule.Recheck: [Int64]] = [:]
        let name = batches[batch]?.name ?? ""
        for (job, verdict) in zip(page, verdicts) {
            switch verdict {
            case .redo: again[.no, default: []].append(job.id)
            case .ask: again[.ask, default: []].append(job.id)
            case .fetch: again[.fetch, default: []].append(job.id)
            case .keep:
                batches[batch]?.totals.kept += 1
                var receipt = JobReceipt(
                    batch: name, job: job.identity, isUpload: job.isUpload, bytes: job.facts.size,
                    transferred: 0, seconds: 0, digest: job.digest, validator: job.validator, finalURL: job.finalURL,
                    path: job.path, status: job.status, attempts: job.attempts)
                receipt.isLengthUnproven = job.isLengthUnproven
                emit(batch, .kept(receipt))
            }
        }
        for (recheck, ids) in again {
            batches[batch]?.remaining += ids.count
            withStore {
                try $0.redo(ids, recheck)
            } then: { _, _ in
            }
        }
    }

    private func didCheckCompleted(_ batch: Int64) {
        batches[batch]?.isChecked = true
        // What was cancelled while nobody could tell the servers.
        abandonCancelled(batch)
        loadPauses()
        loadReady(batch)
    }

    /// Goes on sparing servers that asked an earlier process for it.
    func loadPauses() {
        withStore {
            try $0.pauses()
        } then: { runner, pauses in
            for pause in pauses {
                let error = TransferError(
                    .httpStatus, pause.message, cause: pause.status.map { .http(status: $0) }, isTransient: true,
                    scope: .origin)
                runner.scheduler.restorePause(of: pause.origin, error, until: .now + pause.remaining)
            }
        }
    }

    private func loadReady(_ batch: Int64) {
        withStore {
            try $0.backlog(batch: batch)
        } then: { runner, backlog in
            guard runner.isInRun(batch) else { return }
            for (lane, count) in backlog.ready { runner.scheduler.backlogIs(lane, count) }
            runner.following.review(on: runner)
            runner.admission.setSleepers(of: batch, backlog.sleepers)
        }
    }

    /// Another hand changed jobs of the batch in the store: count and look for work anew.
    func refreshFromStore(_ batch: Int64) {
        batches[batch]?.isAsStaged = false
        withStore {
            try $0.tally(batch: batch)
        } then: { runner, tally in
            runner.tellWatch(of: batch, tally)
            guard let run = runner.batches[batch] else { return }
            let counts = tally.counts
            if let stamp = tally.watched?.stamp {
                // The folder gave it more jobs meanwhile.
                guard stamp > run.stamp else { return runner.refreshFromStore(batch) }
                run.stamp = stamp
            }
            run.totals.jobs = counts.values.reduce(0, +) + run.unreadable
            run.totals.failed = (counts[.failed] ?? 0) + run.unreadable
            run.totals.skipped = counts[.skipped] ?? 0
            run.totals.cancelled = counts[.cancelled] ?? 0
            run.remaining = run.totals.jobs - run.unreadable - counts.ended
            if tally.watched != nil {
                // Of complete ones the store keeps the last only.
                run.totals.jobs = run.remaining + run.totals.ended
            }
        }
        loadReady(batch)
    }

    /// Whether the batch is part of the run: jobs of another one aren't this process's to start.
    func isInRun(_ batch: Int64) -> Bool { batches[batch].map { !$0.isFinished } ?? false }

    // MARK: The end

    /// The run of a batch is over: a later one of another batch starts nothing of it.
    func forgetWork(of batch: Int64) {
        scheduler.forget(batch: batch)
        admission.forgetSleepers(of: batch)
    }

    /// Waits until every batch has ended, or the run was stopped.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            state.waitForEnd(continuation)
            pump()
        }
    }

    /// Checkpoints everything under way and lets the batches go; what is left continues with the next run.
    func stop(_ reason: RunState.StopReason) {
        guard state.stopping == nil else { return }
        state.stopping = reason
        preparation.ahead.forget()
        for job in running.values { interrupt(job, .release(.queued)) }
        saveGroup()
        // A disk that takes longer keeps what it has: the next run finds it.
        timer(.stop).schedule(at: .now + .milliseconds(1500))
        finishStopping()
    }

    func interrupt(_ job: RunningJob, _ stop: RunningJob.Stop) {
        if case .talking = job.phase { return dialogues.breakOff(job, stop, on: self) }
        job.stop = stop
        if case .transferring(let handle) = job.phase { handle.cancel() }
    }

    /// Once nothing is under way any more.
    func finishStopping() {
        saveGroup()
        flushRecords()
        guard running.isEmpty, finishing.underWay == 0, state.storeCalls == 0, recorder.isEmpty else { return }
        let ids = admission.takeAll()
        if !ids.isEmpty {
            // Claimed again, they would be there twice.
            _ = scheduler.remove { _ in true }
            return withStore {
                try $0.release(ids)
            } then: { _, _ in
            }
        }
        let open = batches.values.filter { !$0.isFinished }.map(\.id)
        guard open.isEmpty else {
            // The last word on what is left.
            reportBatches(.now)
            for id in open {
                batches[id]?.isFinished = true
                batches[id]?.wasStopped = true
                forgetWork(of: id)
                withStore {
                    try $0.letGo(batch: id, isComplete: false)
                } then: { _, listeners in
                    for listener in listeners { ControlSocket.ring(listener) }
                }
            }
            return
        }
        endStopping()
    }

    func endStopping() {
        state.tellEnd()
        recorder.givenBack.tellAll()
    }

    /// A later run may follow.
    func endRun() {
        state.stopping = nil
        timer(.stop).cancel()
        following.stop(on: self)
        state.isEndless = false
        reports.batches.removeAll()
        preparation.ahead.forget()
        batches = batches.filter { !$0.value.isFinished }
    }

    /// The counts of each batch, and whether work is left.
    func summary() -> RunSummary {
        var summary = RunSummary()
        for run in batches.values {
            summary.totals[run.name] = run.totals
            if run.wasStopped || !run.isFinished { summary.left += max(0, run.remaining) }
        }
        return summary
    }
}

/// How a run ended.
public struct RunSummary: Sendable, Hashable {
    /// By batch name.
    public var totals: [String: BatchTotals] = [:]
    /// Jobs that a later run continues.
    public var left = 0
    public init() {}
}

extension [JobState: Int] {
    var ended: Int { filter { $0.key.hasEnded }.values.reduce(0, +) }
}
