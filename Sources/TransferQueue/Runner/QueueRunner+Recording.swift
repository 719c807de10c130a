import CTransferFailpoint
import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// Writes what has come together in one transaction; while one is under way the next group gathers, and for some
    /// moments after one began, while there is other work: each keeps the disk, and whoever else writes to it, waiting.
    func flushRecords() {
        guard !isRecording, !(ends.isEmpty && steps.isEmpty) else { return }
        let now = MonotonicTime.now
        let isLast = scheduler.isIdle && storeCalls == 0
        guard isLast || stopping != nil || !steps.isEmpty || ends.count >= 256 || now >= nextRecord else {
            let timer = recordTimer ?? loop.makeTimer { [weak self] in self?.onLoop { $0.pump() } }
            recordTimer = timer
            if !timer.isScheduled { timer.schedule(at: nextRecord) }
            return
        }
        nextRecord = now + .milliseconds(100)
        let (ends, steps) = (ends, steps)
        self.ends.removeAll(keepingCapacity: true)
        self.steps.removeAll(keepingCapacity: true)
        isRecording = true
        Failpoint.reached(.recordDue)
        withStore {
            try $0.record(ends, steps)
        } then: { runner, recorded in
            Failpoint.reached(.recordCommitted)
            runner.isRecording = false
            runner.didRecord(ends, steps, recorded)
        }
    }

    private func didRecord(_ ends: [JobEnd], _ steps: [JobStep], _ recorded: SQLiteStore.Recorded) {
        for (end, cursor) in zip(ends, recorded.cursors) { announce(end, cursor) }
        tellWatches(ends, recorded.watched)
        for batch in Set(ends.filter(\.wasCancelled).map(\.batch)) { abandonCancelled(batch) }
        for skipped in recorded.skipped {
            batches[skipped.batch]?.remaining -= 1
            batches[skipped.batch]?.totals.skipped += 1
            emit(skipped.batch, .skipped(job: skipped.identity, need: skipped.need), cursor: skipped.cursor)
        }
        for (lane, count) in recorded.unblocked { becameReady(lane, count) }
        for step in steps {
            let lane = Lane(batch: step.batch, origin: step.origin, network: step.network)
            switch step.state {
            case .queued where stopping == nil: becameReady(lane, 1, overtakes: watches[step.batch] != nil)
            case .waiting:
                sleepers.append(
                    SQLiteStore.Sleeper(
                        id: step.id, lane: lane, due: step.due ?? .now, isAsked: step.isAsked,
                        disk: step.error.flatMap { $0.isFullDisk ? $0.message : nil }))
            default: break
            }
        }
        toldOfGivenBack(ends.map(\.id) + steps.map(\.id))
    }

    private func announce(_ end: JobEnd, _ cursor: Int64) {
        if end.again == nil { secrets[end.id] = nil }
        traces.forget(end.id)
        batches[end.batch]?.remaining -= 1
        switch end.outcome {
        case .done(let receipt, _):
            batches[end.batch]?.totals.completed += 1
            emit(end.batch, .finished(receipt), cursor: cursor)
        case .kept(let receipt, _):
            batches[end.batch]?.totals.kept += 1
            if !receipt.isConfirmed { batches[end.batch]?.keptUnasked += 1 }
            emit(end.batch, .kept(receipt), cursor: cursor)
        case .failed(let error, let attempts, let host):
            batches[end.batch]?.totals.failed += 1
            let failure = JobFailure(
                batch: batches[end.batch]?.name ?? "", job: end.identity, error: error, attempts: attempts, host: host,
                again: end.again)
            emit(end.batch, .failed(failure), cursor: cursor)
        case .cancelled:
            batches[end.batch]?.totals.cancelled += 1
            emit(end.batch, .cancelled(job: end.identity), cursor: cursor)
        case .dropped:
            batches[end.batch]?.totals.jobs -= 1
            emit(end.batch, .dropped(job: end.identity), cursor: cursor)
        }
    }

    /// Ends the runs of batches that have nothing left.
    func finishBatches() {
        guard storeCalls == 0, ends.isEmpty, steps.isEmpty, abandonments.isEmpty, !isFeeding else { return }
        for id in Array(batches.keys) {
            guard let run = batches[id], run.isChecked, !run.isFinished, run.remaining <= 0, watches[id] == nil else {
                continue
            }
            batches[id]?.isFinished = true
            batches[id]?.totals.bytes = run.settledBytes
            forgetWork(of: id)
            withStore {
                try $0.letGo(batch: id, isComplete: true)
            } then: { runner, listeners in
                runner.announceFinish(id)
                for listener in listeners { ControlSocket.ring(listener) }
            }
        }
        wakeWaitersIfDone()
    }

    private func announceFinish(_ id: Int64) {
        guard let run = batches[id] else { return }
        emit(id, .batchFinished(run.totals, duration: .now - run.started))
        wakeWaitersIfDone()
    }

    private func wakeWaitersIfDone() {
        guard !isEndless, storeCalls == 0, abandonments.isEmpty, batches.values.allSatisfy(\.isFinished) else { return }
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }
}
