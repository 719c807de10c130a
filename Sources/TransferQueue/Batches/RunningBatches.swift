import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

/// The part of the runner that its batches need.
protocol BatchHost: PartHost {
    var batches: RunningBatches { get }
    /// Prepares for a new batch: earlier findings about servers and folders may be out of date.
    func batchComes(with secrets: [Int64: JobSecrets])
    /// Whether other processes work on the batches at the same time.
    var sharesBatches: Bool { get }
    /// Whether this process works on all jobs that other processes bring.
    var awaitsOthers: Bool { get }
    /// Sets the number of ready jobs of a lane in the store.
    func backlogIs(_ lane: Lane, _ count: Int)
    func setSleepers(of batch: Int64, _ jobs: [SleepingJob])
    func restorePause(_ pause: StoredPause)
    func review()
    /// Notifies the servers of the batch's cancelled uploads.
    func abandonCancelled(_ batch: Int64)
    /// Notifies the servers of cancelled uploads that no other process has taken.
    func abandonTaken()
    /// Reports to the folder's uploader that another party changed its jobs.
    func tellWatch(of batch: Int64, _ tally: BatchTally)
    /// Returns whether a folder's uploader may add jobs to the batch, which therefore never ends.
    func isWatched(_ batch: Int64) -> Bool
    /// Forgets the work of a batch whose run is over, so that a later run of another batch starts none of it.
    func forgetWork(of batch: Int64)
    /// Does `work` on a worker. The run is not idle until the result is back.
    func onWorker<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping @Sendable (isolated Self, Value) -> Void)
    /// Notes that a batch has ended; a caller may wait for the last one.
    func batchEnded()
    /// Notes that the store may have messages for hooks of the batch or of its jobs.
    func tellHooks(of batch: Int64, revivesFailed: Bool)
    var census: FolderCache { get }
}

/// The batches of the run: the start of each, its counts, and its end.
final class RunningBatches {
    private var runs: [Int64: BatchRun] = [:]
    /// The batches that are being counted, and those of them that have changed since.
    private var counting: Set<Int64> = []
    private var stale: Set<Int64> = []
    private var polls = PollCoalescer()

    subscript(batch: Int64) -> BatchRun? { runs[batch] }

    var isEmpty: Bool { runs.isEmpty }
    var ids: Dictionary<Int64, BatchRun>.Keys { runs.keys }
    var all: Dictionary<Int64, BatchRun>.Values { runs.values }
    /// The batches that have not ended.
    var open: [Int64] { runs.values.filter { !$0.isFinished }.map(\.id) }
    var allHaveEnded: Bool { runs.values.allSatisfy(\.isFinished) }

    /// Returns whether the batch is part of the run; this process starts no jobs of other batches.
    func isInRun(_ batch: Int64) -> Bool { runs[batch].map { !$0.isFinished } ?? false }

    /// The counts of each batch, and the number of jobs left.
    var summary: RunSummary {
        var summary = RunSummary()
        for run in runs.values {
            summary.totals[run.name] = run.totals
            if run.wasStopped || !run.isFinished { summary.left += max(0, run.remaining) }
        }
        return summary
    }

    // MARK: The beginning

    /// Takes a batch that this process holds into the run.
    ///
    /// - Parameters:
    ///   - tellsOfFailed: Whether failures that no process could report before are reported now.
    ///   - ready: The number of ready jobs, by lane, of a new batch, which needs no query of the store.
    func add(
        _ batch: HeldBatch, secrets: [Int64: JobSecrets], options: RunOptions, tellsOfFailed: Bool = false,
        ready: [Lane: Int]? = nil, on host: isolated some BatchHost
    ) {
        host.batchComes(with: secrets)
        let id = batch.id
        host.tellHooks(of: id, revivesFailed: true)
        guard !isInRun(id) else { return refresh(id, on: host) }
        if let ready { return add(batch, ready, options, on: host) }
        let goesOn = runs[id] != nil
        let run = BatchRun(batch, options, now: .now)
        run.isShared = host.sharesBatches
        runs[id] = run
        host.withStore {
            try $0.tally(batch: id)
        } then: { host, tally in
            let own = host.batches
            // Jobs that were complete before count as left until they have been checked.
            let announced = own[id]?.begin(tally, goesOn: goesOn, asksAgain: options.refresh) ?? BatchTotals()
            host.emit(id, .batchStarted(announced))
            if tellsOfFailed, tally.counts[.failed] ?? 0 > 0 { own.tellOfFailed(id, tally.counts, on: host) }
            // The files of complete jobs may be on the disks of other machines.
            guard !host.sharesBatches else { return own.didCheckCompleted(id, on: host) }
            own.checkCompleted(id, after: 0, options, on: host)
        }
    }

    /// Takes a new batch into the run, without a query of the store.
    private func add(
        _ batch: HeldBatch, _ ready: [Lane: Int], _ options: RunOptions, on host: isolated some BatchHost
    ) {
        let run = BatchRun(batch, options, now: .now)
        run.totals.jobs = ready.values.reduce(0, +)
        run.remaining = run.totals.jobs
        run.isChecked = true
        run.isAsStaged = true
        runs[batch.id] = run
        host.emit(batch.id, .batchStarted(run.totals))
        for (lane, count) in ready { host.backlogIs(lane, count) }
        host.review()
        loadPauses(on: host)
    }

    /// Reports jobs that are still failed. Staging restarted all other failed jobs; these failed with the process that
    /// had them.
    private func tellOfFailed(_ batch: Int64, _ counts: [JobState: Int], on host: isolated some BatchHost) {
        runs[batch]?.totals.failed = counts[.failed] ?? 0
        runs[batch]?.totals.skipped = counts[.skipped] ?? 0
        let name = runs[batch]?.name ?? ""
        host.withStore {
            try $0.failures(batch: name, limit: .max)
        } then: { host, failures in
            for failure in failures {
                let error = TransferError(TransferError.Code(rawValue: failure.code), failure.message)
                host.emit(
                    batch,
                    .failed(
                        JobFailure(
                            batch: name, job: failure.job, error: error, attempts: failure.attempts, host: failure.host,
                            again: failure.again.map { .milliseconds(max(0, $0 - WallClock.milliseconds)) },
                            route: failure.route)
                    ))
            }
        }
    }

    // MARK: Jobs that were complete before

    /// Checks the complete jobs, a page at a time. Unchanged ones are kept, and others are done again.
    private func checkCompleted(
        _ batch: Int64, after last: Int64, _ options: RunOptions, on host: isolated some BatchHost
    ) {
        host.withStore {
            try $0.completed(batch: batch, after: last, limit: 512)
        } then: { host, page in
            guard let end = page.last?.id else {
                host.census.brought.noteRevoked(batch, at: .now)
                return host.batches.didCheckCompleted(batch, on: host)
            }
            let directory = host.batches[batch]?.directory ?? ""
            let brought = host.census.brought
            host.onWorker {
                page.map { CompletedCheck.run($0, directory: directory, options, brought) }
            } then: { host, verdicts in
                host.batches.didJudge(page, verdicts, batch, on: host)
                host.batches.checkCompleted(batch, after: end, options, on: host)
            }
        }
    }

    private func didJudge(
        _ page: [CompletedJob], _ verdicts: [CompletedCheck.Verdict], _ batch: Int64, on host: isolated some BatchHost
    ) {
        var again: [DestinationRule.Recheck: [Int64]] = [:]
        let name = runs[batch]?.name ?? ""
        for (job, verdict) in zip(page, verdicts) {
            switch verdict {
            case .redo: again[.no, default: []].append(job.id)
            case .ask: again[.ask, default: []].append(job.id)
            case .fetch: again[.fetch, default: []].append(job.id)
            case .keep:
                runs[batch]?.totals.kept += 1
                host.emit(batch, .kept(JobReceipt(of: job, in: name)))
            }
        }
        for (recheck, ids) in again {
            runs[batch]?.remaining += ids.count
            host.withStore {
                try $0.redo(ids, recheck)
            } then: { _, _ in
            }
        }
    }

    private func didCheckCompleted(_ batch: Int64, on host: isolated some BatchHost) {
        runs[batch]?.isChecked = true
        // The servers of jobs that were cancelled between two runs have not been notified yet.
        host.abandonCancelled(batch)
        loadPauses(on: host)
        loadReady(batch, on: host)
    }

    // MARK: State in the store

    /// Restores the pauses that servers requested from another process.
    func loadPauses(on host: isolated some BatchHost) {
        host.withStore {
            try $0.pauses()
        } then: { host, pauses in
            for pause in pauses { host.restorePause(pause) }
        }
    }

    private func loadReady(_ batch: Int64, on host: isolated some BatchHost) {
        host.withStore {
            try $0.backlog(batch: batch)
        } then: { host, backlog in
            guard host.batches.isInRun(batch) else { return }
            for (lane, count) in backlog.ready { host.backlogIs(lane, count) }
            host.review()
            host.setSleepers(of: batch, backlog.sleepers)
        }
    }

    /// Counts the batch and searches for work again, after another party changed its jobs in the store.
    func refresh(_ batch: Int64, on host: isolated some BatchHost) {
        runs[batch]?.isAsStaged = false
        // Jobs may come faster than all of them can be counted.
        guard counting.insert(batch).inserted else {
            stale.insert(batch)
            return
        }
        host.withStore {
            try $0.tally(batch: batch)
        } then: { host, tally in
            host.tellWatch(of: batch, tally)
            let own = host.batches
            own.counting.remove(batch)
            let isStale = own.stale.remove(batch) != nil
            guard let run = own[batch], run.refresh(tally) || isStale else { return }
            // More jobs came meanwhile, from the batch's folder or from a program.
            own.refresh(batch, on: host)
        }
        loadReady(batch, on: host)
    }

    /// Reads whether other processes have brought batches, ended jobs of present ones, or made jobs ready.
    func lookForWork(on host: isolated some BatchHost) {
        guard host.sharesBatches, polls.begins() else { return }
        if host.awaitsOthers { host.abandonTaken() }
        host.withStore {
            try $0.hold(.unfinished)
        } then: { host, held in
            let own = host.batches
            if host.awaitsOthers {
                for batch in held where !own.isInRun(batch.id) { own.takeUp(batch, on: host) }
            }
            for id in own.open where own[id]?.isChecked == true { own.refresh(id, on: host) }
            own.loadPauses(on: host)
            if own.polls.endsStale() { own.lookForWork(on: host) }
        }
    }

    /// Takes a batch that other processes have brought or extended. A batch with only messages for hooks left counts as
    /// ended.
    private func takeUp(_ batch: HeldBatch, on host: isolated some BatchHost) {
        guard runs[batch.id] != nil else { return add(batch, secrets: [:], options: RunOptions(), on: host) }
        host.withStore {
            try $0.tally(batch: batch.id)
        } then: { host, tally in
            guard tally.counts.values.reduce(0, +) > tally.counts.ended else { return }
            host.batches.add(batch, secrets: [:], options: RunOptions(), on: host)
        }
    }

    // MARK: The end

    /// Ends the runs of batches that have no jobs left.
    func finish(on host: isolated some BatchHost) {
        for id in Array(runs.keys) {
            guard let run = runs[id], run.isChecked, !run.isFinished, run.remaining <= 0, !host.isWatched(id) else {
                continue
            }
            run.isFinished = true
            run.totals.bytes = run.settledBytes
            host.forgetWork(of: id)
            let end = BatchEnd(run.totals, duration: .now - run.started)
            host.withStore {
                try $0.release(batch: id, isComplete: true, end: end)
            } then: { host, listeners in
                host.tellHooks(of: id, revivesFailed: false)
                // A batch that was taken up again meanwhile gets another end.
                if let run = host.batches[id], run.isFinished {
                    host.emit(id, .batchFinished(run.totals, duration: .now - run.started))
                    host.batchEnded()
                }
                for listener in listeners { ControlSocket.ring(listener) }
            }
        }
        host.batchEnded()
    }

    /// Ends the run before its batches; a later run continues them.
    func stop(_ open: [Int64], on host: isolated some BatchHost) {
        for id in open {
            runs[id]?.isFinished = true
            runs[id]?.wasStopped = true
            host.forgetWork(of: id)
            host.withStore {
                try $0.release(batch: id, isComplete: false)
            } then: { _, listeners in
                for listener in listeners { ControlSocket.ring(listener) }
            }
        }
    }

    func forgetEnded() {
        runs = runs.filter { !$0.value.isFinished }
        (counting, stale) = ([], [])
    }

    // MARK: Single jobs

    /// Counts a job that could not even be read.
    func add(_ failure: JobFailure, on host: isolated some BatchHost) {
        guard let run = runs.values.first(where: { $0.name == failure.batch }) else { return }
        run.unreadable += 1
        run.totals.jobs += 1
        run.totals.failed += 1
        host.emit(run.id, .failed(failure))
    }

    /// Counts a recorded end, and reports it.
    func announce(_ end: JobEnd, _ cursor: Int64, on host: isolated some BatchHost) {
        let run = runs[end.batch]
        run?.count(end.outcome)
        let kind: QueueEvent.Kind
        switch end.outcome {
        case .done(let receipt, _): kind = .finished(receipt)
        case .kept(let receipt, _): kind = .kept(receipt)
        case .failed(let error, let attempts, let machine):
            var failure = JobFailure(
                batch: run?.name ?? "", job: end.identity, error: error, attempts: attempts, host: machine,
                again: end.again, finalURL: end.finalURL, route: end.route)
            failure.sources = end.sources
            kind = .failed(failure)
        case .cancelled: kind = .cancelled(job: end.identity)
        case .dropped: kind = .dropped(job: end.identity)
        }
        host.emit(end.batch, kind, cursor: cursor, route: end.route)
    }

    /// Counts a job that the end of another job has made impossible, and reports it.
    func announce(_ skipped: SkippedJob, on host: isolated some BatchHost) {
        runs[skipped.batch]?.remaining -= 1
        runs[skipped.batch]?.totals.skipped += 1
        host.emit(
            skipped.batch, .skipped(job: skipped.identity, need: skipped.need), cursor: skipped.cursor,
            route: skipped.route)
    }
}

extension JobReceipt {
    /// Creates the receipt of a job that was complete before.
    fileprivate init(of job: CompletedJob, in batch: String) {
        self.init(
            batch: batch, job: job.identity, isUpload: job.isUpload, bytes: job.facts.size, transferred: 0, seconds: 0,
            digest: job.digest, validator: job.validator, finalURL: job.finalURL, path: job.path, status: job.status,
            attempts: job.attempts, route: job.route)
        isLengthUnproven = job.isLengthUnproven
    }
}
