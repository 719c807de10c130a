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
        for (end, cursor) in zip(ends, recorded.cursors) {
            if end.again == nil { memory.secrets[end.id] = nil }
            memory.traces.forget(end.id)
            batches.announce(end, cursor, on: self)
        }
        folders.tell(ends, recorded.watched, on: self)
        for batch in Set(ends.filter(\.wasCancelled).map(\.batch)) { abandonCancelled(batch) }
        for skipped in recorded.skipped { batches.announce(skipped, on: self) }
        for (lane, count) in recorded.unblocked { becameReady(lane, count) }
        for step in steps {
            let lane = Lane(batch: step.batch, origin: step.origin, network: step.network)
            switch step.state {
            case .queued where state.stopping == nil: becameReady(lane, 1, overtakes: folders[step.batch] != nil)
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
}
