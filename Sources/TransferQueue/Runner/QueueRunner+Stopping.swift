import TransferCore
import TransferEngine
import TransferEventLoop

// The end of a run.
extension QueueRunner {
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
        preparing.forgetAhead()
        for job in running.values { interrupt(job, .release(.queued)) }
        downloads.saveGroup(on: self)
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
        downloads.saveGroup(on: self)
        flushRecords()
        guard running.isEmpty, !downloads.areBeingSaved, state.storeCalls == 0, recorder.isEmpty else { return }
        let ids = admission.takeAll()
        if !ids.isEmpty {
            // Claimed again, they would be there twice.
            _ = scheduler.remove { _ in true }
            return withStore {
                try $0.release(ids)
            } then: { _, _ in
            }
        }
        let open = batches.open
        guard open.isEmpty else {
            // The last word on what is left.
            reporter.reportBatches(.now, on: self)
            return batches.stop(open, on: self)
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
        reporter.forget()
        preparing.forgetAhead()
        batches.forgetEnded()
    }
}
