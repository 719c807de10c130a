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
        switch job.record.spec.isUpload ? outcome.receipt : outcome.result {
        case .success(let head): succeeded(job, head, outcome)
        case .failure(let error): exchangeFailed(job, error, outcome)
        }
    }

    // MARK: Success

    private func succeeded(_ job: RunningJob, _ head: ResponseHead, _ outcome: ExchangeOutcome) {
        let id = job.candidate.id
        if case .upload(let file) = job.ready {
            return dialogues.answered(job, file, head, outcome, on: self)
        }
        guard case .download(let ready) = job.ready, case .download(let download) = job.record.spec.work else { return }
        Failpoint.reached(.downloadComplete)
        scheduler.originAnswered(job.candidate.lane.origin)
        // The next one needn't wait for the disk.
        scheduler.ended(job.candidate)
        job.phase = .saving
        job.result = TransferResult(
            status: head.status, finalURL: Redaction.url(outcome.finalURL), transferred: outcome.received,
            validator: Validator(head)?.description, response: nil,
            unproven: download.isProvenByDigests ? nil : ready.earlier(for: outcome)?.adopted?.count,
            isLengthUnproven: outcome.isLengthUnproven)
        finishing.add(
            DownloadCompletion.Item(
                id: id, part: ready.part,
                path: ready.target.file(url: job.url, disposition: head.value("Content-Disposition")),
                replacement: ready.replacement, picksFreeName: download.ifExists == .rename,
                // A 304 or 206 needn't repeat it.
                modified: download.remoteTime
                    ? (head.value("Last-Modified") ?? ready.earlier(for: outcome)?.validator?.lastModified)
                        .flatMap { HTTPDate.parse($0) } : nil,
                expected: download.checksum, pieces: download.pieces, computed: outcome.digest,
                isLarge: outcome.position > 1 << 20,
                adopted: ready.earlier(for: outcome)?.adopted?.path,
                mark: isMarked(job, outcome.position) ? .mark(job, ready, head, outcome) : nil))
    }

    /// Whether the finished file is to bear where it came from: those do that are worth a record on the way, so that a
    /// process that dies before it has recorded them costs no second transfer. (Whether one on the way came to be written
    /// is a matter of luck, as it's given up once the file is whole.)
    private func isMarked(_ job: RunningJob, _ size: Int64) -> Bool {
        size >= Self.markedSize || batches[job.record.batch]?.marksFiles == true
    }

    private static let markedSize: Int64 = 256 << 10

    /// The partial file is the whole one, as its digest says: nobody is asked.
    func completed(_ job: RunningJob, _ ready: ReadyDownload, _ digest: Checksum) {
        guard case .download(let download) = job.record.spec.work, let resume = ready.resume else { return }
        scheduler.originAbandoned(job.candidate.lane.origin, job: job.candidate.id, now: .now)
        scheduler.ended(job.candidate)
        job.phase = .saving
        job.result = TransferResult(
            status: 0, finalURL: ready.earlier?.place?.url ?? Redaction.url(job.url), transferred: 0,
            validator: resume.validator?.description, response: nil)
        let modified = resume.validator?.lastModified.flatMap { HTTPDate.parse($0) }
        finishing.add(
            DownloadCompletion.Item(
                id: job.candidate.id, part: ready.part, path: ready.target.file(url: job.url, disposition: nil),
                replacement: ready.replacement, picksFreeName: download.ifExists == .rename,
                modified: download.remoteTime ? modified : nil, expected: download.checksum, pieces: download.pieces,
                computed: digest,
                isLarge: resume.offset > 1 << 20, adopted: ready.earlier?.adopted?.path,
                mark: isMarked(job, resume.offset) ? ready.earlier : nil))
    }

    /// Hands what has come whole to a worker, to be saved together.
    func saveGroup() {
        for group in finishing.take() {
            engine.workers.execute { [loop, census] in
                let answers = DownloadCompletion.run(group, census)
                loop.execute { self.onLoop { $0.didSave(answers) } }
            }
        }
    }

    private func didSave(_ answers: [DownloadCompletion.Answer]) {
        finishing.saved(answers.count)
        for answer in answers {
            guard let job = running[answer.id] else { continue }
            switch answer.result {
            case .success(let saved):
                let receipt = receipt(job, path: saved.path, bytes: saved.facts.size, digest: saved.digest)
                leave(job, .done(receipt, saved.facts))
            case .failure(let error): saveFailed(job, error)
            }
        }
        pump()
    }

    private func saveFailed(_ job: RunningJob, _ error: TransferError) {
        // What can't have its name can't have it later either: whoever changes the job fetches it anew.
        var left = Remains.untouched
        if case .download(let ready) = job.ready, error.code == .fileExists {
            ready.part.remove()
            left = .nothing
        }
        if case .download(let ready) = job.ready, error.code == .checksumMismatch, ready.earlier?.adopted != nil {
            memory.traces.refuseAdoption(job.candidate.id)
        }
        var error = error
        // Bytes of two attempts may have been put together wrongly by the server's fault, and those of an earlier one may
        // have been lost by the disk: once more from the start.
        if case .download(let ready) = job.ready, error.code == .checksumMismatch {
            error.isTransient = (job.start?.continued ?? ready.resume?.offset ?? 0) > 0
            left = .nothing
        }
        failed(job, error, bodyLeft: false, left: left)
    }

    func receipt(_ job: RunningJob, path: String, bytes: Int64, digest: Checksum?) -> JobReceipt {
        let result = job.result
        var receipt = JobReceipt(
            batch: batches[job.record.batch]?.name ?? "", job: job.record.identity, isUpload: job.record.spec.isUpload,
            bytes: bytes, transferred: result?.transferred ?? 0, seconds: (.now - job.started).inSeconds,
            digest: digest, validator: result?.validator, finalURL: result?.finalURL ?? Redaction.url(job.url),
            path: path, status: result?.status ?? 0, response: result?.response, attempts: job.record.attempts + 1,
            unproven: result?.unproven)
        receipt.isLengthUnproven = result?.isLengthUnproven ?? false
        return receipt
    }

    // MARK: Failure

    private func exchangeFailed(_ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome) {
        guard case .download(let ready) = job.ready else { return dialogues.failed(job, error, outcome, on: self) }
        // The word of another resource than the one that gave the file is none.
        if error.status == 304, let version = ready.held,
            version.isOf(outcome.finalURL, own: job.object?.url ?? job.url)
        {
            return notModified(job, ready, version)
        }
        let id = job.candidate.id
        let (refused, isElsewhere) = objectRefused(job, error, outcome)
        let error = refusedElsewhere(job, refused, outcome)
        let isRefuted = ready.earlier?.adopted != nil && outcome.refutesAdopted
        if isRefuted { memory.traces.refuseAdoption(id) }
        let left = isRefuted ? Remains.nothing : Remains(of: outcome, ready)
        let progressed =
            outcome.resumeData != nil
            && memory.traces.cameFurther(id, from: ready.resume?.offset ?? 0, to: outcome.position)
        if outcome.resumeData != nil, let start = outcome.start {
            memory.traces.note(id, answeredURL: start.url)
        } else if ready.resume?.placeURL != nil, outcome.head != nil {
            memory.traces.noteRefusal(id)
        }
        job.phase = .saving
        engine.workers.execute { [loop] in
            let left = left.secured(ready.part)
            switch left {
            case .record(let resume):
                ready.part.record(resume)
                Failpoint.reached(.brokenOffRecorded)
            case .untouched: break
            case .nothing: ready.part.remove()
            }
            // Before the next attempt, which opens the file anew.
            ready.part.unlock()
            loop.execute {
                self.onLoop { runner in
                    guard let job = runner.running[id] else { return }
                    if isElsewhere, job.stop == nil {
                        runner.askElsewhere(job, error)
                    } else {
                        runner.failed(
                            job, error, bodyLeft: outcome.bodyLeft, left: left, progressed: progressed)
                    }
                    runner.pump()
                }
            }
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
        preparation.ahead.drop(candidate.id)
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
