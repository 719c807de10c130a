import DequeModule
import TransferCore
import TransferEventLoop

// Jobs of a new batch that go from whoever read them to their start without being read from the store (JobReserve).
extension QueueRunner {
    /// Takes a batch into the run of which the store knows nothing but what is in `lanes`.
    func add(_ batch: SQLiteStore.HeldBatch, _ lanes: [Lane: JobReserve.LaneJobs], _ options: RunOptions) {
        let run = BatchRun(id: batch.id, name: batch.name, directory: batch.directory, now: .now)
        run.marksFiles = options.marksFiles
        run.isStrict = options.strict
        run.totals.jobs = lanes.values.reduce(0) { $0 + $1.count }
        run.remaining = run.totals.jobs
        run.isChecked = true
        run.hasReserve = true
        batches[batch.id] = run
        emit(batch.id, .batchStarted(run.totals))
        for (lane, jobs) in lanes {
            if !jobs.jobs.isEmpty { reserves[lane] = jobs.jobs }
            scheduler.backlogIs(lane, jobs.count)
        }
        review()
        loadPauses()
    }

    /// What of a batch isn't opened yet is claimed as other jobs are, once the store has it back.
    ///
    /// - Returns: Whether there was a reserve; if not, whoever forgot it before has the batch counted anew.
    @discardableResult
    func forgetReserve(of batch: Int64) -> Bool {
        guard let run = batches[batch], run.hasReserve else { return false }
        run.hasReserve = false
        reserves = reserves.filter { $0.key.batch != batch }
        returned = returned.filter { $0.batch != batch }
        return true
    }

    /// Takes the next jobs of a lane's reserve, once it's written down that they may start.
    func openReserve(_ lane: Lane, _ count: Int) {
        guard var jobs = reserves[lane] else { return }
        reserves[lane] = nil
        let page = Array(jobs.prefix(count))
        jobs.removeFirst(page.count)
        if !jobs.isEmpty { reserves[lane] = jobs }
        guard let last = page.last?.id else { return }
        let since = WallClock.milliseconds
        let hasUploads = page.contains { $0.spec.wrappedValue.isUpload }
        withStore {
            try $0.open(lane, through: last, since: since, isDurable: hasUploads)
        } then: { runner, isOpen in
            let opened: [(record: JobRecord, rank: Int)] =
                isOpen ? page.map { ($0.record(of: lane.batch, since: since), $0.spec.wrappedValue.priority) } : []
            // More than these may be in the store.
            let asked = isOpen ? opened.count : count
            runner.didClaim(SQLiteStore.Claimed(lane: lane, jobs: opened, unreadable: []), asked: asked)
            // Somebody took them back: what has become of them meanwhile, the store knows. Whatever else was asked of this
            // reserve was asked before it's counted, so that once will do for all lanes.
            if !isOpen, runner.forgetReserve(of: lane.batch) { runner.refreshFromStore(lane.batch) }
        }
    }
}

extension JobReserve.Job {
    fileprivate func record(of batch: Int64, since: Int64) -> JobRecord {
        JobRecord(id: id, batch: batch, identity: identity, spec: spec, claimed: since)
    }
}
