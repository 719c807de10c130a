import CTransferFailpoint
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// Uploads that take more than one request: performs what their dialogues want, and tells them what came of it.
extension QueueRunner {
    /// Begins the dialogue of a job whose source is open.
    ///
    /// - Returns: `false` for an upload that is one request.
    func talk(_ job: RunningJob, _ file: SourceFile, over link: String?) throws(TransferError) -> Bool {
        guard case .upload(let upload) = job.record.spec.work else { return false }
        let isFresh = job.record.upload == nil && !job.record.wasInterrupted && job.record.watched == nil
        if isFresh, upload.isOneRequest(size: file.size) { return false }
        let id = job.candidate.id
        var record = job.record.upload
        let likeness = record.map {
            $0.likeness(to: file, isVerified: job.isVerified, mustNotRepeat: job.record.spec.mustNotRepeat)
        }
        if let old = record, likeness == .other {
            guard upload.options.ifChanged == .restart else {
                throw TransferError(
                    .sourceChanged,
                    "\(file.path) changed since its upload began; \"ifChanged\": \"restart\" sends the new version")
            }
            emit(job.record.batch, .restarted(job: job.record.identity, reason: "the source changed since it began"))
            abandon(AbandonedUpload(id: id, spec: job.record.spec, upload: old))
            job.record.upload = nil
            record = nil
        }
        let source = UploadSource(
            name: WatchedPath.name(file.path), size: file.size, digest: job.sending.digest,
            mayHaveChanged: likeness == .unclear)
        let state = lostWithItsProcess(job, upload, file, record) ?? record?.state
        let attempt = UploadAttempt(
            spec: job.record.spec, upload: upload, source: source, state: state, secrets: builder(of: job).secrets)
        let made =
            job.record.watched?.verifies == true ? try attempt.verifyingDialogue() : try attempt.dialogue()
        guard let dialogue = made else { return false }
        if state != nil { file.markSentBefore(mayHaveChanged: likeness == .unclear) }
        job.way.link = link
        begin(dialogue, of: job, file, record)
        return true
    }

    private func begin(
        _ dialogue: any UploadDialogue, of job: RunningJob, _ file: SourceFile, _ record: UploadRecord?
    ) {
        job.phase = .talking
        job.talk = UploadTalk(
            number: state.nextTalk(), dialogue: dialogue, file: file, record: record,
            keepsVersion: job.record.keepsVersion)
        advance(job.candidate.id) { $0.begin(now: WallClock.seconds) }
    }

    /// The answer to an upload that was one request isn't a receipt yet.
    func lookFurther(
        _ job: RunningJob, _ upload: JobSpec.Upload, _ file: SourceFile, after answer: UploadAnswer
    ) {
        let source = UploadSource(name: WatchedPath.name(file.path), size: file.size, digest: job.sending.digest)
        let dialogue = ReceiptDialogue(
            after: answer, rule: upload.receipt, url: upload.url, source: source, began: began(job))
        begin(dialogue, of: job, file, job.record.upload)
    }

    /// When a job's attempt began, in seconds since 1970.
    private func began(_ job: RunningJob) -> Int64 {
        WallClock.seconds - (MonotonicTime.now - job.started).components.seconds
    }

    private func advance(_ id: Int64, _ step: (inout any UploadDialogue) -> [UploadAction]) {
        guard var talk = running[id]?.talk else { return }
        let actions = step(&talk.dialogue)
        talk.waiting += actions
        running[id]?.talk = talk
        performWaiting(id)
    }

    /// Performs what may be performed now: all, or as far as the next thing that has to be durable first.
    private func performWaiting(_ id: Int64) {
        while let talk = running[id]?.talk, !talk.isSaving, let action = talk.waiting.first {
            running[id]?.talk?.waiting.removeFirst()
            perform(action, of: id, talk)
        }
    }

    private func perform(_ action: UploadAction, of id: Int64, _ talk: UploadTalk) {
        guard let job = running[id] else { return }
        switch action {
        case .send(let request): send(request, of: id, job, talk)
        case .digest(let number, let algorithm, let range): digest(number, algorithm, range, of: id, talk)
        case .save(let state): save(state, of: id)
        case .confirmed(let bytes): job.talk?.confirm(bytes)
        case .forget: job.talk?.state = nil
        case .restart(let reason):
            emit(job.record.batch, .restarted(job: job.record.identity, reason: reason))
            if job.record.spec.mustNotRepeat { markAgain(id, talk.number) }
        case .stop(let request): job.talk?.ended(request, isAnswered: false)?.handle.cancel()
        case .finish(let result): talkFinished(id, result)
        case .fail(let error): talkFailed(id, error)
        }
    }

    // MARK: Requests

    private func send(_ request: UploadRequest, of id: Int64, _ job: RunningJob, _ talk: UploadTalk) {
        let exchange: ExchangeRequest
        do throws(TransferError) {
            var made = try builder(of: job).exchange(request, of: job.record.spec, file: talk.file)
            if let link = job.way.link { made.settings.link = link }
            exchange = made
        } catch {
            return advance(id) { $0.handle(.failed(request: request.id, error, sent: 0), now: WallClock.seconds) }
        }
        let (number, meter) = (talk.number, ExchangeMeter())
        let digest = request.digests.map { DigestSink.Outcome($0) }
        let handle = engine.start(
            exchange, meter: meter, limiters: limiters(job.record.spec.settings),
            makeSink: { digest.map { DigestSink($0) } ?? AnswerSink(limit: 256 << 10) as any BodySink }
        ) { [loop] event in
            switch event {
            case .interim, .redirected, .netrcUsed, .challenged, .ended:
                let found: Checksum? = if case .ended = event { digest?.finish() } else { nil }
                loop.execute { self.onLoop { $0.heard(event, request.id, of: id, talk: number, found) } }
            case .responded, .restarted: break
            }
        }
        job.talk?.began(request.id, UploadTalk.Leg(handle: handle, meter: meter))
        Failpoint.reached(.dialogueSent)
    }

    /// What to go by where a process died that may have sent the whole file: it has been the same since, as its bytes or its
    /// times tell.
    ///
    /// - Parameter saved: What that process left behind.
    /// - Returns: `nil` when nobody can say, and where the state leads on.
    private func lostWithItsProcess(
        _ job: RunningJob, _ upload: JobSpec.Upload, _ file: SourceFile, _ saved: UploadRecord?
    ) -> UploadState? {
        let record = job.record
        guard record.wasInterrupted, upload.entry.confirmsLostAnswers, record.spec.method == "PUT",
            saved?.knowsTheWay != true,
            job.sending.isProven || (file.stamp.changed ?? 0) / 1_000_000 <= record.claimed
        else { return nil }
        return ConfirmingPut.state(began: record.claimed / 1000)
    }

    private func heard(
        _ event: ExchangeEvent, _ request: Int, of id: Int64, talk number: Int, _ digest: Checksum?
    ) {
        guard let job = running[id], let talk = job.talk, talk.number == number else { return }
        switch event {
        case .interim(let head):
            guard let leg = talk.legs[request] else { return }
            job.sending.wasAnswered = true
            advance(id) { $0.handle(.interim(request: request, head, url: leg.url), now: WallClock.seconds) }
        case .redirected(let proposal): job.talk?.moved(request, to: proposal.nextURL)
        case .netrcUsed(let use): emit(job.record.batch, .authorized(job: job.record.identity, use))
        case .ended(let outcome):
            Failpoint.reached(.dialogueAnswered)
            let isAnswered = if case .success = outcome.result { true } else { false }
            guard job.talk?.ended(request, isAnswered: isAnswered) != nil else { return }
            job.talk?.lastHead = outcome.head
            judgeLink(job, outcome)
            if outcome.head != nil {
                job.sending.wasAnswered = true
                scheduler.answered(job.candidate)
            }
            advance(id) { $0.handle(Self.event(outcome, request, digest), now: WallClock.seconds) }
        case .challenged: scheduler.answered(job.candidate)
        case .responded, .restarted: break
        }
        pump()
    }

    private static func event(_ outcome: ExchangeOutcome, _ request: Int, _ digest: Checksum?) -> UploadEvent {
        switch outcome.receipt {
        case .failure(let error): return .failed(request: request, error, sent: outcome.sent)
        case .success(let head):
            var answer = UploadAnswer(
                request: request, head: head, body: outcome.answer, url: outcome.finalURL, sent: outcome.sent)
            answer.digest = digest
            return .answered(answer)
        }
    }

    private func digest(
        _ number: Int, _ algorithm: DigestAlgorithm, _ range: Range<Int64>, of id: Int64, _ talk: UploadTalk
    ) {
        let serial = talk.number
        engine.workers.execute { [loop, file = talk.file] in
            let result = Result { () throws(TransferError) in try FileDigest.compute(file, algorithm, range) }
            loop.execute {
                self.onLoop { runner in
                    guard runner.running[id]?.talk?.number == serial else { return }
                    switch result {
                    case .success(let digest):
                        runner.advance(id) { $0.handle(.digested(id: number, digest), now: WallClock.seconds) }
                    case .failure(let error): runner.talkFailed(id, error)
                    }
                    runner.pump()
                }
            }
        }
    }

    private func save(_ state: UploadState, of id: Int64) {
        Failpoint.reached(.stateUnsaved)
        running[id]?.talk?.state = state
        running[id]?.talk?.isSaving = true
        guard let talk = running[id]?.talk else { return }
        let (record, number) = (talk.record, talk.number)
        withStore {
            try $0.note([.upload(record, of: id)])
        } then: { runner, _ in
            guard runner.running[id]?.talk?.number == number else { return }
            Failpoint.reached(.stateSaved)
            runner.running[id]?.talk?.isSaving = false
            runner.running[id]?.record.upload = record
            runner.performWaiting(id)
        }
    }

    /// What was begun is given up, and what comes next must not be sent twice: that is written down before.
    private func markAgain(_ id: Int64, _ number: Int) {
        running[id]?.talk?.isSaving = true
        withStore {
            try $0.note([.sending(id, isUnrepeatable: true, version: nil)])
        } then: { runner, _ in
            guard runner.running[id]?.talk?.number == number else { return }
            runner.running[id]?.talk?.isSaving = false
            runner.performWaiting(id)
        }
    }

    /// The body of a PUT left whole, and the answer was lost: before it's sent again the server is asked whether it has it.
    func keepUnanswered(_ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome) {
        guard case .upload(let file) = job.ready, case .upload(let upload) = job.record.spec.work,
            upload.entry.confirmsLostAnswers, job.record.spec.method == "PUT", error.status == nil, file.size > 0,
            outcome.sent >= file.size || error.code == .answeredEarly
        else { return }
        let record = UploadRecord(file, state: ConfirmingPut.state(began: began(job)), confirmed: 0)
        let id = job.candidate.id
        job.record.upload = record
        withStore {
            try $0.note([.upload(record, of: id)])
        } then: { _, _ in
        }
    }

    // MARK: The end

    /// Nothing of the version that an attempt began with has left: another one may take its place.
    func takeBackVersion(_ job: RunningJob) {
        guard job.sending.hasMarkedVersion, !job.sending.hasLeft, job.sent == 0, job.talk?.state == nil,
            let record = job.record.upload, record.state == nil
        else { return }
        job.record.upload = nil
        let id = job.candidate.id
        withStore {
            try $0.note([.upload(nil, of: id)])
        } then: { _, _ in
        }
    }

    private func talkFinished(_ id: Int64, _ result: UploadResult) {
        guard let job = running[id], let talk = job.talk else { return }
        let number = talk.number
        // Whoever stops the job now waits for that: its server has said that it's complete.
        job.phase = .saving
        settleSource(job, talk.file) { runner, isSame in
            guard runner.running[id]?.talk?.number == number else { return }
            guard isSame else { return runner.talkFailed(id, .changed(talk.file, method: runner.unrepeatable(id))) }
            runner.talkSettled(id, result)
        }
    }

    private func talkSettled(_ id: Int64, _ result: UploadResult) {
        guard let job = running[id], let talk = job.talk else { return }
        if let digest = result.digest, let known = job.sending.digest, digest.algorithm == known.algorithm,
            digest != known
        {
            job.talk?.state = nil
            let error = TransferError(
                .checksumMismatch, "the server has \(digest) of \(talk.file.path), which is \(known)", isTransient: true
            )
            return talkFailed(id, error)
        }
        Failpoint.reached(.uploadConfirmed)
        endTalk(job)
        scheduler.originAnswered(job.candidate.lane.origin)
        job.result = TransferResult(
            status: result.status, finalURL: Redaction.url(result.url), transferred: talk.sent + job.meter.sent,
            validator: result.validator, response: result.response)
        leave(
            job,
            .done(
                receipt(job, path: talk.file.path, bytes: talk.file.size, digest: result.digest ?? job.sending.digest),
                talk.file.stamp))
    }

    private func talkFailed(_ id: Int64, _ error: TransferError) {
        guard let job = running[id], let talk = job.talk else { return }
        let error = hinted(error, talk.lastHead, job)
        let mayHaveArrived = job.mayHaveArrived
        endTalk(job)
        let record = talk.record
        // What is to be forgotten, and how far it came, is written down with the step.
        if record != job.record.upload {
            withStore {
                try $0.note([.upload(record, of: id)])
            } then: { _, _ in
            }
        }
        job.record.upload = record
        let progressed = memory.traces.cameFurther(id, from: talk.confirmedBefore, to: talk.confirmed)
        failed(job, error, bodyLeft: mayHaveArrived, progressed: progressed)
    }

    /// With a word on the folder that its destination may lack.
    func hinted(_ error: TransferError, _ head: ResponseHead?, _ job: RunningJob) -> TransferError {
        guard case .upload(let upload) = job.record.spec.work, let head, error.status == head.status,
            let hint = upload.entry.hint(head, job.record.spec.method, upload.url)
        else { return error }
        var error = error
        error.message += hint
        return error
    }

    /// Whoever stopped the job has it as it is now: what is under way is given up, and what was saved stays.
    func breakOff(_ job: RunningJob, _ stop: RunningJob.Stop) {
        leave(job, for: stop)
        endTalk(job)
    }

    private func endTalk(_ job: RunningJob) {
        guard let talk = job.talk else { return }
        for leg in talk.legs.values { leg.handle.cancel() }
        account(job, moved: talk.sent)
        batches[job.record.batch]?.settledBytes += talk.sent
        job.sending.hasLeft = talk.sent > 0
        job.talk = nil
    }
}
