import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// Somebody rang: take what was asked of this process.
    func takeCommands() {
        withStore {
            try $0.takeCommands()
        } then: { runner, commands in
            for command in commands { runner.perform(command) }
        }
    }

    private func perform(_ command: QueueCommand) {
        let isMeant = { (batch: Int64, identity: String) in
            batch == command.batch && (command.job == nil || command.job == identity)
        }
        let stop: RunningJob.Stop?
        switch command.verb {
        case .pause: stop = .release(.paused)
        case .cancel: stop = .cancel
        case .resume, .retry, .retryFailed: stop = nil
        }
        if let stop {
            for (id, job) in running where isMeant(job.record.batch, job.record.identity) { interrupt(id, job, stop) }
            takeBack(stop) { isMeant($0.batch, $0.identity) }
            sleepers.removeAll { $0.lane.batch == command.batch }
        }
        if command.verb == .resume { unpause(isMeant) }
        if stop == nil {
            scheduler.openGates()
            withStore {
                try $0.forgetPauses()
            } then: { _, _ in
            }
        }
        withStore {
            try $0.apply(command)
        } then: { runner, applied in
            runner.announce(command, applied)
        }
    }

    private func announce(_ command: QueueCommand, _ applied: SQLiteStore.Applied) {
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
        refreshFromStore(command.batch)
    }

    /// What is on its way to be paused goes on instead.
    private func unpause(_ isMeant: (Int64, String) -> Bool) {
        for (id, job) in running where isMeant(job.record.batch, job.record.identity) {
            if case .release(.paused) = job.stop { running[id]?.stop = .release(.queued) }
        }
        for index in steps.indices where steps[index].state == .paused {
            if isMeant(steps[index].batch, steps[index].identity) { steps[index].state = .queued }
        }
    }

    /// Jobs that were claimed and haven't started.
    func takeBack(_ stop: RunningJob.Stop, where isMeant: (JobRecord) -> Bool) {
        let meant = Set(claimed.values.filter(isMeant).map(\.id))
        for candidate in scheduler.remove(where: { meant.contains($0.id) }) {
            guard let record = claimed.removeValue(forKey: candidate.id) else { continue }
            let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
            letGo(RunningJob(candidate: candidate, record: record, started: .now, url: url), stop)
        }
    }
}
