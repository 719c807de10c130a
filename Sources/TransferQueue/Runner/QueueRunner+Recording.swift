import CTransferFailpoint
import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// Writes what has come together in one transaction.
    func flushRecords() {
        let isAwaited = scheduler.isIdle && state.storeCalls == 0 || state.stopping != nil
        switch recorder.next(now: .now, isAwaited: isAwaited) {
        case .nothing: break
        case .later(let time):
            let timer = timer(.record)
            if !timer.isScheduled { timer.schedule(at: time) }
        case .write(let ends, let steps): write(ends, steps)
        }
    }

    private func write(_ ends: [JobEnd], _ steps: [JobStep]) {
        Failpoint.reached(.recordDue)
        withStore {
            try $0.record(ends, steps)
        } then: { runner, recorded in
            Failpoint.reached(.recordCommitted)
            runner.recorder.written()
            runner.didRecord(ends, steps, recorded)
        }
    }

    private func didRecord(_ ends: [JobEnd], _ steps: [JobStep], _ recorded: RecordedGroup) {
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
            case .queued where state.stopping == nil: becameReady(lane, 1, overtakes: watches[step.batch] != nil)
            case .waiting:
                admission.sleep(
                    SleepingJob(
                        id: step.id, lane: lane, due: step.due ?? .now, isAsked: step.isAsked,
                        disk: step.error.flatMap { $0.isFullDisk ? $0.message : nil }))
            default: break
            }
        }
        recorder.givenBack.recorded(ends.map(\.id) + steps.map(\.id))
    }

    private func announce(_ end: JobEnd, _ cursor: Int64) {
        if end.again == nil { memory.secrets[end.id] = nil }
        memory.traces.forget(end.id)
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
        guard state.storeCalls == 0, recorder.isEmpty, abandonments.isEmpty, !state.isFeeding else { return }
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
        guard !state.isEndless, state.storeCalls == 0, abandonments.isEmpty, batches.values.allSatisfy(\.isFinished) else {
            return
        }
        state.tellEnd()
    }
}
