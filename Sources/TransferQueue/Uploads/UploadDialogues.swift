import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore
import TransferUpload

/// The part of the runner that the dialogues of uploads need.
protocol UploadHost: PartHost {
    var dialogues: UploadDialogues { get }
    func underWay(_ id: Int64) -> RunningJob?
    func builder(of job: RunningJob) -> RequestBuilder
    func limiters(of job: RunningJob) -> [RateLimiter]
    /// Notes that part of an answer has come.
    func serverAnswered(_ job: RunningJob)
    func judgeLink(_ job: RunningJob, _ outcome: ExchangeOutcome)
    func refusedElsewhere(_ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome) -> TransferError
    /// Gives up a begun upload for good.
    func abandon(_ upload: AbandonedUpload)
    /// Calls `then` with whether the file still equals the sent bytes.
    func settleSource(
        _ job: RunningJob, _ source: UploadBytes, then: @escaping @Sendable (isolated Self, Bool) -> Void)
    /// Returns whether the server holds more than ever before.
    func cameFurther(_ job: RunningJob, from start: Int64, to position: Int64) -> Bool
    /// Counts the bytes that a finished dialogue has moved.
    func count(_ job: RunningJob, moved bytes: Int64)
    /// Ends a job whose upload is confirmed by the server and equals the file.
    func uploaded(_ job: RunningJob, _ source: UploadBytes, _ result: TransferResult, _ digest: Checksum?)
    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool)
    func leave(_ job: RunningJob, for stop: RunningJob.Stop)
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    func spareConnections(to origin: String) -> Int
    func connectionOpened(to origin: String)
    func connectionClosed(to origin: String)
}

/// The uploads whose source is open. It performs the actions of dialogues with several requests, and judges the answers
/// to uploads of one request.
final class UploadDialogues {
    private let engine: any ExchangePerformer
    /// The number of the last dialogue. Numbers distinguish an attempt's answers from those of an earlier attempt of
    /// the job.
    private var lastNumber = 0

    init(engine: any ExchangePerformer) { self.engine = engine }

    // MARK: The beginning

    /// Begins the dialogue of a job whose source is open.
    ///
    /// - Returns: `false` for an upload of one request.
    func begin(
        _ job: RunningJob, _ file: SourceFile, over link: String?, on host: isolated some UploadHost
    ) throws(TransferError) -> Bool {
        guard case .upload(let upload) = job.record.spec.work else { return false }
        let isFresh = job.record.upload == nil && !job.record.wasInterrupted && job.record.watched == nil
        if isFresh, upload.isOneRequest(size: file.size) { return false }
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
            host.emit(
                job.record.batch, .restarted(job: job.record.identity, reason: "the source changed since it began"))
            host.abandon(AbandonedUpload(id: job.candidate.id, spec: job.record.spec, upload: old))
            job.record.upload = nil
            record = nil
        }
        let source = UploadSource(
            name: WatchedPath.name(file.path), size: file.size, digest: job.sending.digest,
            mayHaveChanged: likeness == .unclear)
        let state = job.record.stateAfterLoss(file, isProven: job.sending.isProven) ?? record?.state
        let builder = host.builder(of: job)
        let attempt = UploadAttempt(
            spec: job.record.spec, upload: upload, source: source, state: state,
            abilities: builder.accounts.abilities(job.record.spec), secrets: builder.secrets)
        let made =
            job.record.watched?.verifies == true ? try attempt.verifyingDialogue() : try attempt.dialogue()
        guard let dialogue = made else {
            if job.record.mayHaveBeenPut, likeness != .other {
                let reason = "an earlier attempt may have sent it, and the file has changed since"
                host.emit(job.record.batch, .restarted(job: job.record.identity, reason: reason))
            }
            return false
        }
        if state != nil { file.markSentBefore(mayHaveChanged: likeness == .unclear) }
        job.way.link = link
        begin(dialogue, of: job, .file(file), record, on: host)
        return true
    }

    /// Begins the dialogue of a copy whose source is known.
    func begin(
        _ job: RunningJob, _ source: RemoteSource, over link: String?, on host: isolated some UploadHost
    ) throws(TransferError) {
        guard case .upload(let upload) = job.record.spec.work else { return }
        let record = job.record.upload
        var bytes = UploadSource(source, expected: upload.checksum)
        let state = job.record.stateAfterLoss(&bytes) ?? record?.state
        let builder = host.builder(of: job)
        let attempt = UploadAttempt(
            spec: job.record.spec, upload: upload, source: bytes, state: state,
            abilities: builder.accounts.abilities(job.record.spec), secrets: builder.secrets)
        job.way.link = link
        begin(try attempt.dialogueOfCopy(), of: job, .remote(source), record, on: host)
    }

    func begin(
        _ dialogue: any UploadDialogue, of job: RunningJob, _ source: UploadBytes, _ record: UploadRecord?,
        on host: isolated some UploadHost
    ) {
        job.phase = .talking
        lastNumber += 1
        job.talk = UploadTalk(
            number: lastNumber, dialogue: dialogue, source: source, record: record,
            keepsVersion: job.record.keepsVersion)
        advance(job.candidate.id, on: host) { $0.begin(now: WallClock.seconds) }
    }

    // MARK: Actions

    func advance(
        _ id: Int64, on host: isolated some UploadHost, _ step: (inout any UploadDialogue) -> [UploadAction]
    ) {
        guard let job = host.underWay(id), var talk = job.talk else { return }
        let actions = step(&talk.dialogue)
        talk.waiting += actions
        job.talk = talk
        performWaiting(id, on: host)
    }

    /// Performs the waiting actions, up to the next state that has to be durable first.
    private func performWaiting(_ id: Int64, on host: isolated some UploadHost) {
        while let job = host.underWay(id), let talk = job.talk, !talk.isSaving, let action = talk.waiting.first {
            job.talk?.waiting.removeFirst()
            perform(action, of: job, talk, on: host)
        }
    }

    private func perform(
        _ action: UploadAction, of job: RunningJob, _ talk: UploadTalk, on host: isolated some UploadHost
    ) {
        let id = job.candidate.id
        switch action {
        case .send(let request): send(request, of: job, talk, on: host)
        case .digest(let number, let algorithm, let range):
            digest(number, algorithm, range, of: id, talk, on: host)
        case .save(let state): save(state, of: job, on: host)
        case .confirmed(let bytes): job.talk?.confirm(bytes)
        case .forget: job.talk?.state = nil
        case .restart(let reason):
            job.pace.furthest = 0
            host.emit(job.record.batch, .restarted(job: job.record.identity, reason: reason))
            if job.record.spec.mustNotRepeat { markAgain(job, talk.number, on: host) }
        case .stop(let request): job.talk?.ended(request, isAnswered: false)?.handle.cancel()
        case .learned(let abilities): host.builder(of: job).accounts.learn(abilities, of: job.record.spec)
        case .finish(let result): finished(id, result, on: host)
        case .fail(let error): failed(id, error, on: host)
        }
    }

    private func save(_ state: UploadState, of job: RunningJob, on host: isolated some UploadHost) {
        job.talk?.state = state
        // The state may say that the failure behind it was reported, so both are stored in one transaction.
        guard let talk = job.talk, !talk.failsNext else { return }
        Failpoint.reached(.stateUnsaved)
        job.talk?.isSaving = true
        let (id, record, number) = (job.candidate.id, talk.record, talk.number)
        host.withStore {
            try $0.note([.upload(record, of: id)])
        } then: { host, _ in
            guard let job = host.underWay(id), job.talk?.number == number else { return }
            Failpoint.reached(.stateSaved)
            job.talk?.isSaving = false
            job.record.upload = record
            host.dialogues.performWaiting(id, on: host)
        }
    }

    /// Records, before the upload is restarted, that the next body must not be sent twice. Where the
    /// process is lost before this is stored, the next one asks the server by the earlier record.
    private func markAgain(_ job: RunningJob, _ number: Int, on host: isolated some UploadHost) {
        job.talk?.isSaving = true
        let id = job.candidate.id
        host.withStore {
            try $0.note([.sending(id, isUnrepeatable: true, version: nil)])
        } then: { host, _ in
            guard let job = host.underWay(id), job.talk?.number == number else { return }
            job.talk?.isSaving = false
            host.dialogues.performWaiting(id, on: host)
        }
    }

    private func digest(
        _ number: Int, _ algorithm: DigestAlgorithm, _ range: Range<Int64>, of id: Int64, _ talk: UploadTalk,
        on host: isolated some UploadHost
    ) {
        let serial = talk.number
        let done: @Sendable (Result<Checksum, TransferError>) -> Void = { [host] result in
            host.loop.execute {
                host.onLoop { host in
                    guard host.underWay(id)?.talk?.number == serial else { return }
                    switch result {
                    case .success(let digest):
                        host.dialogues.advance(id, on: host) {
                            $0.handle(.digested(id: number, digest), now: WallClock.seconds)
                        }
                    case .failure(let error): host.dialogues.failed(id, error, on: host)
                    }
                    host.pump()
                }
            }
        }
        switch talk.source {
        case .remote(let source): source.digest(range, algorithm, then: done)
        case .file(let file):
            engine.workers.execute {
                done(Result { () throws(TransferError) in try FileDigest.compute(file, algorithm, range) })
            }
        }
    }

    // MARK: Requests

    private func send(
        _ request: UploadRequest, of job: RunningJob, _ talk: UploadTalk, on host: isolated some UploadHost
    ) {
        let id = job.candidate.id
        let exchange: ExchangeRequest
        do throws(TransferError) {
            var made = try host.builder(of: job).exchange(request, of: job.record.spec, source: talk.source)
            if let link = job.way.link { made.settings.link = link }
            exchange = made
        } catch {
            return advance(id, on: host) {
                $0.handle(.failed(request: request.id, error, sent: 0), now: WallClock.seconds)
            }
        }
        let (number, meter) = (talk.number, ExchangeMeter())
        let digest = request.digests.map { DigestSink.Outcome($0) }
        let window: RemoteWindow? = if case .window(let window) = exchange.body { window } else { nil }
        let handle = engine.start(
            exchange, meter: meter, limiters: host.limiters(of: job),
            makeSink: { digest.map { DigestSink($0) } ?? AnswerSink(limit: 256 << 10) as any BodySink }
        ) { [host] event in
            switch event {
            case .interim, .redirected, .netrcUsed, .congestionRefused, .challenged, .ended:
                let isOver = if case .ended = event { true } else { false }
                let found = isOver ? (body: digest?.finish(), sent: window?.digest) : (nil, nil)
                host.loop.execute {
                    host.onLoop { $0.dialogues.heard(event, request.id, of: id, talk: number, found, on: $0) }
                }
            case .responded, .restarted: break
            }
        }
        job.talk?.began(request.id, UploadTalk.Leg(handle: handle, meter: meter, carries: request.body.sourceLength))
        if talk.dialogue.followsLink { schedule(on: host) }
        Failpoint.reached(.dialogueSent)
    }

    private func heard(
        _ event: ExchangeEvent, _ request: Int, of id: Int64, talk number: Int,
        _ digests: (body: Checksum?, sent: Checksum?),
        on host: isolated some UploadHost
    ) {
        guard let job = host.underWay(id), let talk = job.talk, talk.number == number else { return }
        switch event {
        case .interim(let head):
            guard let leg = talk.legs[request] else { return }
            job.talk?.heard(request)
            job.sending.wasAnswered = true
            advance(id, on: host) {
                $0.handle(.interim(request: request, head, url: leg.url), now: WallClock.seconds)
            }
        case .redirected(let proposal): job.talk?.moved(request, to: proposal.nextURL)
        case .netrcUsed(let use): host.emit(job.record.batch, .authorized(job: job.record.identity, use))
        case .congestionRefused(let use):
            host.emit(job.record.batch, .congestion(job: job.record.identity, use))
        case .ended(let outcome):
            Failpoint.reached(.dialogueAnswered)
            let isAnswered = if case .success = outcome.result { true } else { false }
            guard job.talk?.ended(request, isAnswered: isAnswered) != nil else { return }
            job.talk?.lastHead = outcome.head
            host.judgeLink(job, outcome)
            if outcome.head != nil {
                job.sending.wasAnswered = true
                host.serverAnswered(job)
            }
            noteRefusal(job, outcome)
            advance(id, on: host) {
                $0.handle(
                    UploadEvent(outcome, of: request, digests.body, sums: digests.sent), now: WallClock.seconds)
            }
        case .challenged: host.serverAnswered(job)
        case .responded, .restarted: break
        }
        host.pump()
    }

    // MARK: The end

    /// Forgets the version that an attempt began with if no byte of it has left, so that another may replace it.
    func takeBackVersion(_ job: RunningJob) {
        guard job.sending.hasMarkedVersion, !job.sending.hasLeft, job.sent == 0, job.talk?.state == nil,
            let record = job.record.upload, record.state == nil
        else { return }
        job.leave(nil)
    }

    private func finished(_ id: Int64, _ result: UploadResult, on host: isolated some UploadHost) {
        guard let job = host.underWay(id), let talk = job.talk else { return }
        let number = talk.number
        // A stop has to wait now, because the server has confirmed the complete upload.
        job.phase = .saving
        host.settleSource(job, talk.source) { host, isSame in
            guard let job = host.underWay(id), job.talk?.number == number else { return }
            guard isSame else {
                return host.dialogues.failed(
                    id, .changed(talk.source.place, method: job.record.unrepeatable), on: host)
            }
            host.dialogues.settled(job, result, on: host)
        }
    }

    private func settled(_ job: RunningJob, _ result: UploadResult, on host: isolated some UploadHost) {
        guard let talk = job.talk else { return }
        let known = job.sending.digest ?? talk.source.remote?.digest
        if let digest = result.digest, let known, digest.algorithm == known.algorithm,
            digest != known
        {
            job.talk?.state = nil
            let error = TransferError(
                .checksumMismatch, "the server has \(digest) of \(talk.source.place), which is \(known)",
                isTransient: true
            )
            return failed(job.candidate.id, error, on: host)
        }
        Failpoint.reached(.uploadConfirmed)
        end(job, on: host)
        var transfer = TransferResult(
            status: result.status, finalURL: Redaction.url(result.url), transferred: talk.sent + job.meter.sent,
            validator: result.validator, response: result.response)
        if let source = talk.source.remote { transfer.proofs = Copies.proofs(source, result, of: job.record.spec) }
        host.uploaded(job, talk.source, transfer, result.digest ?? known)
    }

    private func failed(_ id: Int64, _ error: TransferError, on host: isolated some UploadHost) {
        guard let job = host.underWay(id), let talk = job.talk else { return }
        let error = error.hinted(talk.lastHead, job.record.spec)
        let mayHaveArrived = job.mayHaveArrived
        end(job, on: host)
        let record = Copies.recordLeft(by: talk, of: job, after: error, on: host)
        if record != job.record.upload { job.leave(record) }
        let progressed = host.cameFurther(job, from: talk.confirmedBefore, to: talk.confirmed)
        host.failed(
            job, error.afterEarlierAttempt(record, sent: talk.sent), bodyLeft: mayHaveArrived, progressed: progressed)
    }

    func end(_ job: RunningJob, on host: isolated some UploadHost) {
        guard let talk = job.talk else { return }
        for leg in talk.legs.values { leg.handle.cancel() }
        count(job, extra: 0, on: host)
        job.talk = nil
        host.count(job, moved: talk.acknowledged)
        job.sending.hasLeft = talk.sent > 0
    }
}
