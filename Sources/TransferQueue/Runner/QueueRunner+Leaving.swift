import TransferCore
import TransferEngine
import TransferEventLoop

// The one door out of `running`.
extension QueueRunner {
    /// Ends what this process has of a job: its slot, its origin's probe, the lock of its partial file and the version that
    /// it wrote down are given back here and nowhere else, and its record is made.
    ///
    /// What its end says of its origin is told before (`originAnswered`, `originFailed`). Jobs that were claimed and
    /// haven't started leave by it too.
    func leave(_ job: RunningJob, _ departure: Departure) {
        let id = job.candidate.id
        if !departure.isSettled { dialogues.takeBackVersion(job, on: self) }
        running[id] = nil
        downloads.dropRecord(of: id)
        scheduler.ended(job.candidate)
        // Changes nothing where an answer or a failure was told.
        scheduler.originAbandoned(job.candidate.lane.origin, job: id, now: .now)
        giveBackFile(of: job, departure)
        record(job, departure)
    }

    /// Somebody stopped the job.
    func leave(_ job: RunningJob, for stop: RunningJob.Stop, resume: ResumeData? = nil) {
        leave(job, Departure(stop, of: job, host: host(of: job), resume: resume))
    }

    private func giveBackFile(of job: RunningJob, _ departure: Departure) {
        guard case .download(let ready) = job.ready, !departure.isSettled else { return }
        if departure.isByCommand || !job.hasBegun { ready.part.discardIfEmpty() }
        ready.part.unlock()
    }

    private func record(_ job: RunningJob, _ departure: Departure) {
        let record = job.record
        switch departure {
        case .done(let receipt, let facts): recorder.add(settledEnd(job, .done(receipt, facts)))
        case .kept(let receipt, let facts): recorder.add(settledEnd(job, .kept(receipt, facts)))
        case .replaced(let isChanged):
            if let upload = record.upload {
                abandon(AbandonedUpload(id: record.id, spec: record.spec, upload: upload))
            }
            recorder.add(settledEnd(job, .dropped(isChanged: isChanged)))
        case .cancelled:
            var end = end(record, .cancelled)
            end.resume = record.resume
            recorder.add(end)
        case .failed(let error, let attempts, let host):
            var end = end(record, .failed(error, attempts: attempts, host: host))
            end.again = again(record, error)
            end.resume = record.resume
            recorder.add(end)
        case .retry(let next, let delay, let error, let resume):
            emit(
                record.batch,
                error.isFullDisk
                    ? .waiting(job: record.identity, .disk(error.message, remaining: delay))
                    : .retrying(job: record.identity, delay: delay, error))
            let isNow = delay <= .zero
            var step = step(
                job, next, isNow ? .queued : .waiting, after: isNow ? nil : delay.inMilliseconds, resume: resume)
            step.isAsked = error.retryAfter != nil
            step.error = error
            recorder.add(step)
        case .wait(let reason, let delay, let resume, let startsCountAnew):
            emit(record.batch, .waiting(job: record.identity, reason))
            var step = step(
                job, record, delay == nil ? .queued : .waiting, after: delay?.inMilliseconds,
                resume: resume ?? record.resume)
            if startsCountAnew { (step.attempts, step.askedWait) = (0, .zero) }
            recorder.add(step)
        case .release(let state, let resume):
            if state == .paused { emit(record.batch, .waiting(job: record.identity, .paused)) }
            recorder.add(
                step(job, record, state, after: state == .waiting ? Self.changeTakes : nil, resume: resume))
        }
    }

    /// A watched folder has no end, so nothing in it is given up for ever; but it isn't sent twice unasked.
    private func again(_ record: JobRecord, _ error: TransferError) -> Duration? {
        guard let watched = record.watched, let keeper = folders[record.batch], error.code != .mayHaveBeenSent else {
            return nil
        }
        return keeper.times.again.delay(after: watched.failures + 1)
    }

    private func end(_ record: JobRecord, _ outcome: JobEnd.Outcome) -> JobEnd {
        JobEnd(id: record.id, batch: record.batch, identity: record.identity, outcome: outcome)
    }

    private func settledEnd(_ job: RunningJob, _ outcome: JobEnd.Outcome) -> JobEnd {
        var end = end(job.record, outcome)
        end.sourceChanged = job.source?.stamp.changed
        end.sourceFingerprint = job.record.watched == nil ? nil : job.source?.sentFingerprint
        return end
    }

    /// - Parameter delay: Milliseconds from now.
    private func step(
        _ job: RunningJob, _ record: JobRecord, _ state: JobState, after delay: Int64?, resume: ResumeData?
    ) -> JobStep {
        JobStep(
            id: record.id, state: state, attempts: record.attempts, mirror: record.mirror,
            spentMirrors: record.spentMirrors, askedWait: record.askedWait,
            due: delay.map { MonotonicTime.now + .milliseconds($0) }, origin: record.spec.origin(mirror: record.mirror),
            resume: resume, batch: record.batch, identity: record.identity, network: job.candidate.lane.network)
    }
}
