import TransferCore
import TransferEventLoop

// Jobs of a new batch that go from whoever read them to their start without being read from the store (JobReserve).
extension QueueRunner {
    /// Takes a batch into the run of which the store knows nothing but what is in `lanes`.
    func add(_ batch: HeldBatch, _ lanes: [Lane: JobReserve.LaneJobs], _ options: RunOptions) {
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
            admission.reserve(jobs.jobs, in: lane)
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
        admission.forgetReserves(of: batch)
        return true
    }

    /// Takes the next jobs of lanes' reserves, once it's written down that they may start.
    func openReserves(_ wants: [LaneWant]) {
        var pages: [(want: LaneWant, jobs: [JobReserve.Job])] = []
        for want in wants {
            let page = admission.takeReserved(want.lane, atMost: want.limit)
            if !page.isEmpty { pages.append((want, page)) }
        }
        guard !pages.isEmpty else { return }
        let since = WallClock.milliseconds
        let openings = pages.map { ReserveOpening(lane: $0.want.lane, last: $0.jobs.last?.id ?? 0) }
        let hasUploads = pages.contains { $0.jobs.contains { $0.spec.wrappedValue.isUpload } }
        withStore { [pages] store in
            (pages, try store.open(openings, since: since, isDurable: hasUploads))
        } then: { runner, opened in
            for ((want, page), isOpen) in zip(opened.0, opened.1) {
                runner.didOpen(page, of: want, since: since, isOpen: isOpen)
            }
        }
    }

    private func didOpen(_ page: [JobReserve.Job], of want: LaneWant, since: Int64, isOpen: Bool) {
        let opened: [(record: JobRecord, rank: Int)] =
            isOpen ? page.map { ($0.record(of: want.lane.batch, since: since), $0.spec.wrappedValue.priority) } : []
        // More than these may be in the store.
        let asked = isOpen ? opened.count : want.limit
        didClaim(ClaimedJobs(lane: want.lane, jobs: opened, unreadable: []), asked: asked)
        // Somebody took them back: what has become of them meanwhile, the store knows. Whatever else was asked of this
        // reserve was asked before it's counted, so that once will do for all lanes.
        if !isOpen, forgetReserve(of: want.lane.batch) { refreshFromStore(want.lane.batch) }
    }
}

extension JobReserve.Job {
    fileprivate func record(of batch: Int64, since: Int64) -> JobRecord {
        JobRecord(id: id, batch: batch, identity: identity, spec: spec, claimed: since)
    }
}
