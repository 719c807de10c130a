import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// Somebody rang: take what was asked of this process.
    func takeCommands() {
        withStore {
            try $0.takeCommands()
        } then: { runner, commands in
            runner.take(commands)
        }
    }

    func take(_ asked: [QueueCommand]) {
        commands.add(asked)
        performNext()
    }

    private func performNext() {
        guard let command = commands.next() else { return }
        emit(command.batch, .commanded(command.verb, job: command.job))
        // Of these the store doesn't know yet.
        let isFailing = recorder.steps.contains { $0.error != nil && command.means($0.batch, $0.identity) }
        if let stop = command.stop { halt(stop, command) }
        if command.verb == .resume { unpause(command.means) }
        if command.verb == .retry { hurry(command.means) }
        withStore { store -> (applied: AppliedCommand, opensGates: Bool) in
            let applied = try store.apply(command)
            // One that only waits for its turn gets no other by a retry.
            let opensGates = command.stop == nil && (command.verb == .resume || isFailing || applied.hadFailed)
            if opensGates { try store.publish(.noPauses) }
            return (applied, opensGates)
        } then: { runner, result in
            // What the store found claimed, and so left alone, is known here by now.
            if let stop = command.stop {
                runner.halt(stop, command)
            } else if result.opensGates {
                runner.scheduler.openGates()
            } else if result.applied.count > 0 {
                // As for a job that is new.
                runner.scheduler.reviveDead()
            }
            runner.commands.finished()
            runner.announce(command, result.applied)
            runner.performNext()
        }
    }

    /// What was being claimed when a command came isn't started.
    func holdBack() {
        guard let command = commands.current, let stop = command.stop else { return }
        takeBack(stop) { command.means($0.batch, $0.identity) }
    }

    /// Stops what is under way, what was claimed and hasn't started, and what goes back to the queue and isn't recorded
    /// yet: the store knows all of them as claimed.
    private func halt(_ stop: RunningJob.Stop, _ command: QueueCommand) {
        for job in running.values where command.means(job.record.batch, job.record.identity) { interrupt(job, stop) }
        takeBack(stop) { command.means($0.batch, $0.identity) }
        switch stop {
        case .cancel: recorder.cancel { command.means($0.batch, $0.identity) }
        case .release(let state):
            recorder.change(where: { command.means($0.batch, $0.identity) }) { step in
                if state == .paused, step.state != state { emit(step.batch, .waiting(job: step.identity, .paused)) }
                step.state = state
                step.due = nil
            }
        }
        admission.forgetSleepers(of: command.batch)
    }

    private func announce(_ command: QueueCommand, _ applied: AppliedCommand) {
        for job in applied.jobs {
            switch command.verb {
            case .cancel: emit(command.batch, .cancelled(job: job.identity), cursor: job.cursor)
            case .pause: emit(command.batch, .waiting(job: job.identity, .paused))
            case .resume, .retry, .retryFailed: break
            }
        }
        for skipped in applied.skipped {
            emit(skipped.batch, .skipped(job: skipped.identity, need: skipped.need), cursor: skipped.cursor)
        }
        if command.verb == .cancel { abandonCancelled(command.batch) }
        batches.refresh(command.batch, on: self)
    }

    /// What is on its way to be paused goes on instead.
    private func unpause(_ isMeant: (Int64, String) -> Bool) {
        for job in running.values where isMeant(job.record.batch, job.record.identity) {
            if case .release(.paused) = job.stop { job.stop = .release(.queued) }
        }
        recorder.change(where: { $0.state == .paused && isMeant($0.batch, $0.identity) }) { $0.state = .queued }
    }

    /// What is on its way to wait for its next attempt has it at once, as what waits already.
    private func hurry(_ isMeant: (Int64, String) -> Bool) {
        recorder.change(where: { $0.state == .waiting && isMeant($0.batch, $0.identity) }) { step in
            step.state = .queued
            step.due = nil
            (step.attempts, step.mirror, step.spentMirrors) = (0, 0, 0)
            step.askedWait = .zero
        }
    }

    /// Jobs that were claimed and haven't started.
    func takeBack(_ stop: RunningJob.Stop, where isMeant: (JobRecord) -> Bool) {
        preparation.ahead.forget()
        let meant = admission.ids(where: isMeant)
        for candidate in scheduler.remove(where: { meant.contains($0.id) }) {
            guard let record = admission.take(candidate.id) else { continue }
            let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
            leave(RunningJob(candidate: candidate, record: record, started: .now, url: url), for: stop)
        }
    }
}

extension QueueCommand {
    /// What it does to jobs that are under way.
    fileprivate var stop: RunningJob.Stop? {
        switch verb {
        case .pause: .release(.paused)
        case .cancel: .cancel
        case .resume, .retry, .retryFailed: nil
        }
    }

    /// Whether it's about that job.
    fileprivate func means(_ batch: Int64, _ identity: String) -> Bool {
        batch == self.batch && (job == nil || job == identity)
    }
}
