import CTransferFailpoint
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

extension QueueRunner {
    func exchangeEnded(_ job: RunningJob, _ outcome: ExchangeOutcome) {
        let moved = job.record.spec.isUpload ? outcome.sent : outcome.received
        batches[job.record.batch]?.settledBytes += moved
        following.account(job, moved: moved, on: self)
        following.judgeLink(job, outcome, on: self)
        if outcome.head != nil { job.sending.wasAnswered = true }
        switch (job.record.spec.isUpload ? outcome.receipt : outcome.result, job.ready) {
        case (.success(let head), .upload(let file)): dialogues.answered(job, file, head, outcome, on: self)
        case (.success(let head), .download(let ready)): downloads.succeeded(job, ready, head, outcome, on: self)
        case (.success, nil): break
        case (.failure(let error), .download(let ready)): downloads.failed(job, ready, error, outcome, on: self)
        case (.failure(let error), _): dialogues.failed(job, error, outcome, on: self)
        }
    }

    /// A redirect led to the URL that refused, which may be signed and out of its time by now: the job's own URL is asked
    /// once more, for another.
    func refusedElsewhere(
        _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome
    ) -> TransferError {
        guard let status = error.status, StatusRule.mayBeOfSignature(status), !error.isTransient,
            job.record.spec.settings.retry.statusCodes == nil, outcome.metrics.redirects > 0,
            outcome.finalURL != job.object?.url ?? job.url,
            memory.traces.asksOwnURLAgain(job.candidate.id)
        else { return error }
        var error = error
        // Whoever retries goes by the status where there is one.
        (error.isTransient, error.cause) = (true, nil)
        return error
    }

    /// An attempt came to nothing: again later, elsewhere, or never.
    ///
    /// - Parameter left: What it left of the partial file.
    func failed(
        _ job: RunningJob, _ error: TransferError, bodyLeft: Bool, left: Remains = .untouched, progressed: Bool = false
    ) {
        let resume = left.record(after: job.record.resume)
        job.record.resume = resume
        var attempt = FailedAttempt(of: job, error, bodyLeft: bodyLeft)
        if job.stop == nil {
            if attempt.isReplaced { return leave(job, .replaced(isChanged: true)) }
            if attempt.mayRepeat {
                if let reason = following.fault(job, attempt.error, on: self) {
                    return following.wait(job, reason, resume: resume, progressed: progressed, on: self)
                }
                if let reason = attempt.clockFault, !configuration.isClockSynchronised() {
                    return leave(
                        job,
                        .wait(
                            .clock(reason), after: configuration.clockInterval, resume: resume, startsCountAnew: false))
                }
                if OpenFiles.areLacking(attempt.error) {
                    guard let alone = waitForDescriptors(job, attempt.error, resume: resume) else { return }
                    attempt.error = alone
                }
            }
        }
        if progressed { attempt.countAnew() }
        tellOrigin(job, attempt)
        attempt.boundWait()
        if let stop = job.stop { return leave(job, for: stop, resume: resume) }
        // Somebody stopped it and thought better of it meanwhile.
        if attempt.error.code == .cancelled { return leave(job, for: .release(.queued), resume: resume) }
        follow(attempt, of: job, resume)
    }

    private func follow(_ attempt: FailedAttempt, of job: RunningJob, _ resume: ResumeData?) {
        let origin = job.candidate.lane.origin
        // It keeps its place among those of its folder where it waits behind its origin's pause anyway.
        let isEndless = job.isEndless(in: folders.desk)
        let isHeld =
            isEndless && attempt.error.scope == .origin && scheduler.pause(of: origin, now: .now) != nil
        let (verdict, exhaustion) = attempt.verdict(isEndless: isEndless, isHeld: isHeld) { .random(in: 0..<1) }
        if let exhaustion {
            scheduler.originExhausted(
                origin, exhaustion, patience: OriginPatience(job.record.spec.settings.retry.rule))
        }
        switch verdict {
        case .again(let record, let delay, let error):
            leave(job, .retry(record, after: delay, because: error, resume: resume))
        case .over(let error, let attempts, let isOurs):
            leave(job, .failed(error, attempts: attempts, host: isOurs ? nil : host(of: job)))
        }
    }

    /// The origin is given up: another mirror, or no attempt at all.
    func refuse(_ candidate: Scheduler.Candidate, _ error: TransferError) {
        guard var record = admission.take(candidate.id) else { return }
        preparing.drop(candidate.id)
        let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
        let job = RunningJob(candidate: candidate, record: record, started: .now, url: url)
        let refusal = TransferError(
            .originUnreachable, "\(error.message); given up for the other jobs of this host too", cause: error.cause,
            isTransient: true, scope: .origin)
        record.spendMirror()
        guard let mirror = record.nextMirror(of: record.spec.urls.count) else {
            return leave(job, .failed(refusal, attempts: record.attempts, host: host(of: job)))
        }
        record.mirror = mirror
        leave(job, .retry(record, after: .zero, because: refusal, resume: record.resume))
    }
}

extension FailedAttempt {
    init(of job: RunningJob, _ error: TransferError, bodyLeft: Bool) {
        let isPreparing = if case .preparing = job.phase { true } else { false }
        self.init(
            of: job.record, error, bodyLeft: bodyLeft, isPreparing: isPreparing, hadBegun: job.start != nil,
            wasAnswered: job.sending.wasAnswered)
    }
}
