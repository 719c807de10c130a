import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferScheduling

// The record and the event of a job that leaves: plain values, independent of a run.
extension JobOutcome {
    enum Entry {
        /// The job has ended.
        case end(JobEnd)
        /// The job returns to the queue.
        case step(JobStep)
    }

    /// Returns the database record of this departure.
    ///
    /// - Parameters:
    ///   - times: The delays after which a watched folder's failed files are retried automatically; `nil` for other
    ///     jobs.
    ///   - change: The milliseconds for which a job that was taken back for a change is not started again.
    func entry(of job: RunningJob, again times: FailedFiles.Delays?, change: Int64) -> Entry {
        let record = job.record
        switch self {
        case .done(let receipt, let facts): return .end(JobEnd(settled: job, .done(receipt, facts)))
        case .kept(let receipt, let facts): return .end(JobEnd(settled: job, .kept(receipt, facts)))
        case .replaced(let isChanged): return .end(JobEnd(settled: job, .dropped(isChanged: isChanged)))
        case .cancelled: return .end(JobEnd(brokenOff: job, .cancelled))
        case .failed(let error, let attempts, let host):
            var end = JobEnd(brokenOff: job, .failed(error, attempts: attempts, host: host))
            end.finalURL = job.sending.finalURL
            end.sources = job.sources.atEnd(now: MonotonicTime.now.inSeconds)
            // A watched folder never ends, so its files are retried for ever, except where a retry might send a file
            // twice.
            if let watched = record.watched, let times, error.code != .mayHaveBeenSent {
                end.again = times.delay(after: watched.failures + 1)
            }
            return .end(end)
        case .retry(let next, let delay, let error, let resume):
            let isNow = delay <= .zero
            var step = JobStep(
                job, next, isNow ? .queued : .waiting, after: isNow ? nil : delay.inMilliseconds, resume: resume)
            step.isAsked = error.retryAfter != nil
            step.error = error
            return .step(step)
        case .wait(_, let delay, let resume, let startsCountAnew):
            var step = JobStep(
                job, record, delay == nil ? .queued : .waiting, after: delay?.inMilliseconds,
                resume: resume ?? record.resume)
            if startsCountAnew { (step.attempts, step.askedWait) = (0, .zero) }
            return .step(step)
        case .leftToWatcher:
            var step = JobStep(leaving: record, lane: job.candidate.lane)
            step.upload = job.sending.left
            return .step(step)
        case .release(let state, let resume):
            return .step(
                JobStep(job, record, state, after: state == .waiting ? change : nil, resume: resume))
        }
    }

    /// Returns the longest total time that the remaining waits between attempts may take.
    private static func patience(of record: JobRecord) -> Duration {
        let mirrors = record.spec.isUpload ? 1 : max(1, record.spec.urls.count)
        return record.spec.settings.retry.rule.patience(retriesSpent: record.attempts / mirrors)
    }

    /// Returns the event to report at once. The end of a job is reported when it is recorded.
    func news(of record: JobRecord) -> QueueEvent.Kind? {
        switch self {
        case .retry(let next, let delay, let error, _):
            error.isFullDisk
                ? .waiting(
                    job: record.identity,
                    .disk(error.message, remaining: delay, patience: delay + Self.patience(of: next)))
                : .retrying(job: record.identity, delay: delay, error)
        case .wait(let reason, _, _, _): .waiting(job: record.identity, reason)
        case .release(.paused, _): .waiting(job: record.identity, .paused)
        case .release, .leftToWatcher, .done, .kept, .cancelled, .replaced, .failed: nil
        }
    }
}

extension JobEnd {
    /// Creates the end of a job whose source or destination is settled for good.
    fileprivate init(settled job: RunningJob, _ outcome: Outcome) {
        self.init(id: job.record.id, batch: job.record.batch, identity: job.record.identity, outcome: outcome)
        sourceChanged = job.source?.stamp.changed
        tellsHook = job.record.spec.tellsHook
        sourceFingerprint = job.record.watched == nil ? nil : job.source?.sentFingerprint
        isWatched = job.record.watched != nil
        route = JobRoute(job.record.$spec)
    }

    /// Creates the end of a job that is cancelled before the step of its last attempt is recorded.
    init(cancelled step: JobStep) {
        self.init(id: step.id, batch: step.batch, identity: step.identity, outcome: .cancelled)
        isWatched = step.isWatched
        resume = step.resume
        upload = step.upload
        route = step.route
        tellsHook = step.tellsHook
    }

    /// Creates the end of a job that broke off. The bytes of its file stay.
    fileprivate init(brokenOff job: RunningJob, _ outcome: Outcome) {
        let record = job.record
        self.init(id: record.id, batch: record.batch, identity: record.identity, outcome: outcome)
        isWatched = record.watched != nil
        resume = record.resume
        upload = job.sending.left
        route = JobRoute(record.$spec)
        tellsHook = record.spec.tellsHook
    }
}

extension JobStep {
    /// Creates the step of a job that is left to the processes that watch its folder.
    init(leaving record: JobRecord, lane: Lane) {
        self.init(
            id: record.id, state: .queued, attempts: record.attempts, mirror: record.mirror,
            spentMirrors: record.spentMirrors, askedWait: record.askedWait, origin: lane.origin, resume: record.resume,
            batch: record.batch, identity: record.identity, network: lane.network)
        tags = lane.tags
        route = JobRoute(record.$spec)
        tellsHook = record.spec.tellsHook
        watch = .leftToWatchers
    }

    /// Creates the step of a job back into the queue.
    ///
    /// - Parameter delay: Milliseconds from now.
    fileprivate init(
        _ job: RunningJob, _ record: JobRecord, _ state: JobState, after delay: Int64?, resume: ResumeData?
    ) {
        self.init(
            id: record.id, state: state, attempts: record.attempts, mirror: record.mirror,
            spentMirrors: record.spentMirrors, askedWait: record.askedWait,
            due: delay.map { MonotonicTime.now + .milliseconds($0) }, origin: record.spec.origin(mirror: record.mirror),
            resume: resume, batch: record.batch, identity: record.identity, network: job.candidate.lane.network)
        upload = job.sending.left
        watch = record.watched == nil ? .none : .version
        tags = job.candidate.lane.tags
        route = JobRoute(record.$spec)
        tellsHook = record.spec.tellsHook
    }
}
