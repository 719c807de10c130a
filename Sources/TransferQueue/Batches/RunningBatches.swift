import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

/// The runner, as far as its batches need it.
protocol BatchHost: PartHost {
    var batches: RunningBatches { get }
    /// A batch comes in: what was found out about servers and folders before may have changed.
    func batchComes(with secrets: [Int64: JobSecrets])
    /// Whether other processes work on the batches at the same time.
    var sharesBatches: Bool { get }
    /// Whether this process works on whatever others bring.
    var awaitsOthers: Bool { get }
    /// So many jobs of the lane are ready in the store.
    func backlogIs(_ lane: Lane, _ count: Int)
    func setSleepers(of batch: Int64, _ jobs: [SleepingJob])
    func restorePause(_ pause: StoredPause)
    func review()
    /// Tells the servers of the batch's cancelled uploads.
    func abandonCancelled(_ batch: Int64)
    /// Tells the servers of cancelled uploads that no other process tells.
    func abandonTaken()
    /// Another hand changed jobs of a watched folder.
    func tellWatch(of batch: Int64, _ tally: BatchTally)
    /// Whether a folder's keeper may add to the batch, which so has no end.
    func isWatched(_ batch: Int64) -> Bool
    /// The run of the batch is over: a later one of another batch starts nothing of it.
    func forgetWork(of batch: Int64)
    /// Does `work` on a worker; until it has come back nobody is idle.
    func onWorker<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping @Sendable (isolated Self, Value) -> Void)
    /// A batch has ended; somebody may wait for the last one.
    func batchEnded()
    /// The store may have something to be told to hooks of the batch or of its jobs.
    func tellHooks(of batch: Int64, revivesFailed: Bool)
    var census: FolderCache { get }
}

/// The batches of the run: how each comes into it, what its counts are, and its end.
final class RunningBatches {
    private var runs: [Int64: BatchRun] = [:]
    /// Batches that are being counted, and those of them that have changed since.
    private var counting: Set<Int64> = []
    private var stale: Set<Int64> = []
    private var polls = PollCoalescer()

    subscript(batch: Int64) -> BatchRun? { runs[batch] }

    var isEmpty: Bool { runs.isEmpty }
    var ids: Dictionary<Int64, BatchRun>.Keys { runs.keys }
    var all: Dictionary<Int64, BatchRun>.Values { runs.values }
    /// Batches that haven't ended.
    var open: [Int64] { runs.values.filter { !$0.isFinished }.map(\.id) }
    var allHaveEnded: Bool { runs.values.allSatisfy(\.isFinished) }

    /// Whether the batch is part of the run: jobs of another one aren't this process's to start.
    func isInRun(_ batch: Int64) -> Bool { runs[batch].map { !$0.isFinished } ?? false }

    /// The counts of each batch, and whether work is left.
    var summary: RunSummary {
        var summary = RunSummary()
        for run in runs.values {
            summary.totals[run.name] = run.totals
            if run.wasStopped || !run.isFinished { summary.left += max(0, run.remaining) }
        }
        return summary
    }

    // MARK: The beginning

    /// Takes a batch, which this process holds, into the run.
    ///
    /// - Parameters:
    ///   - tellsOfFailed: What failed before any process could tell is told now.
    ///   - ready: How many jobs are ready, by lane, of a batch of which nothing else is known.
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
            // Until they have been looked at, those that were complete count as left.
            let announced = own[id]?.begin(tally, goesOn: goesOn, asksAgain: options.refresh) ?? BatchTotals()
            host.emit(id, .batchStarted(announced))
            if tellsOfFailed, tally.counts[.failed] ?? 0 > 0 { own.tellOfFailed(id, tally.counts, on: host) }
            // The files of complete jobs may be on the disks of others.
            guard !host.sharesBatches else { return own.didCheckCompleted(id, on: host) }
            own.checkCompleted(id, after: 0, options, on: host)
        }
    }

    /// Takes a new batch into the run: nothing has to be asked of it.
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

    /// Staging gave all other failed jobs a new start: these ended with the process that had them.
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

    /// Goes through the complete jobs, a page at a time: what is still there is kept, the rest is done again.
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
        // Servers couldn't be told of jobs that were cancelled between two runs.
        host.abandonCancelled(batch)
        loadPauses(on: host)
        loadReady(batch, on: host)
    }

    // MARK: What the store knows

    /// Goes on sparing servers that asked another process for it.
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

    /// Another hand changed jobs of the batch in the store: count and look for work anew.
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
            // More jobs came meanwhile, of its folder or of a program.
            own.refresh(batch, on: host)
        }
        loadReady(batch, on: host)
    }

    /// Other processes may have brought batches, ended jobs of those that are here, or made some ready.
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

    /// Takes a batch that others have brought, or given more jobs. One that only has messages for hooks left has ended.
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

    /// Ends the runs of batches that have nothing left.
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
                // One that was taken up again meanwhile has another end.
                if let run = host.batches[id], run.isFinished {
                    host.emit(id, .batchFinished(run.totals, duration: .now - run.started))
                    host.batchEnded()
                }
                for listener in listeners { ControlSocket.ring(listener) }
            }
        }
        host.batchEnded()
    }

    /// The run ends before its batches do: a later one goes on with them.
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

    /// A job that could not even be read.
    func add(_ failure: JobFailure, on host: isolated some BatchHost) {
        guard let run = runs.values.first(where: { $0.name == failure.batch }) else { return }
        run.unreadable += 1
        run.totals.jobs += 1
        run.totals.failed += 1
        host.emit(run.id, .failed(failure))
    }

    /// Counts an end that has been recorded, and tells it.
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

    /// Counts a job that another one's end has made impossible, and tells it.
    func announce(_ skipped: SkippedJob, on host: isolated some BatchHost) {
        runs[skipped.batch]?.remaining -= 1
        runs[skipped.batch]?.totals.skipped += 1
        host.emit(
            skipped.batch, .skipped(job: skipped.identity, need: skipped.need), cursor: skipped.cursor,
            route: skipped.route)
    }
}

extension JobReceipt {
    /// The receipt of a job that was complete before.
    fileprivate init(of job: CompletedJob, in batch: String) {
        self.init(
            batch: batch, job: job.identity, isUpload: job.isUpload, bytes: job.facts.size, transferred: 0, seconds: 0,
            digest: job.digest, validator: job.validator, finalURL: job.finalURL, path: job.path, status: job.status,
            attempts: job.attempts, route: job.route)
        isLengthUnproven = job.isLengthUnproven
    }
}
