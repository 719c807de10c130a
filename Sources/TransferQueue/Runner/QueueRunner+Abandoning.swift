import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// Uploads that are given up for good: their servers are told, so that they free what they hold.
extension QueueRunner {
    /// One that is being given up.
    struct Abandonment {
        let upload: SQLiteStore.AbandonedUpload
        var dialogue: any UploadDialogue
        /// A server may not have noticed yet that nothing more is sent.
        var triesLeft: Int
    }

    /// The longest that somebody waits for a server that is told.
    private static let patience: Duration = .seconds(10)

    /// Tells the servers of a batch's cancelled jobs.
    func abandonCancelled(_ batch: Int64) {
        let known = secrets
        withStore {
            try $0.abandonedUploads(batch: batch, secrets: known)
        } then: { runner, uploads in
            for upload in uploads where !runner.abandonments.values.contains(where: { $0.upload.id == upload.id }) {
                runner.abandon(upload)
            }
        }
    }

    func abandon(_ uploads: [SQLiteStore.AbandonedUpload]) { for upload in uploads { abandon(upload) } }

    /// Without an end for whoever waits for the job: what comes of it is of no interest to it.
    func abandon(_ upload: SQLiteStore.AbandonedUpload, triesLeft: Int = 10) {
        guard case .upload(let work) = upload.spec.work, let state = upload.upload.state,
            !VerifyingDialogue.isVerifying(state)
        else { return }
        let source = UploadSource(name: "", size: upload.upload.size)
        let made = Result { () throws(TransferError) in
            try UploadProtocols.dialogue(
                upload.spec, work, source: source, state: state, secrets: builder.secrets)
        }
        let dialogue: any UploadDialogue
        switch made {
        case .success(.none): return
        case .success(.some(let found)): dialogue = found
        case .failure(let error):
            untold[upload.id] = error
            return
        }
        talks += 1
        abandonments[talks] = Abandonment(upload: upload, dialogue: dialogue, triesLeft: triesLeft)
        step(talks) { $0.abandon(now: WallClock.seconds) }
    }

    private func step(_ number: Int, _ step: (inout any UploadDialogue) -> [UploadAction]) {
        guard var abandonment = abandonments[number] else { return }
        let actions = step(&abandonment.dialogue)
        abandonments[number] = abandonment
        for action in actions {
            switch action {
            case .send(let request): send(request, number, abandonment.upload.spec)
            case .fail(let error) where error.isTransient && abandonment.triesLeft > 0: return again(number)
            case .finish: return end(number)
            // Nothing is there any more.
            case .fail(let error) where error.status == 404 || error.status == 410: return end(number)
            case .fail(let error): return giveUp(number, error)
            case .save, .confirmed, .restart, .forget, .digest, .stop: break
            }
        }
    }

    private func again(_ number: Int) {
        guard let old = abandonments[number] else { return }
        let timer = loop.makeTimer { [weak self] in
            self?.onLoop { runner in
                runner.abandonments[number] = nil
                runner.abandonTimers[number] = nil
                runner.abandon(old.upload, triesLeft: old.triesLeft - 1)
                runner.pump()
            }
        }
        abandonTimers[number] = timer
        timer.schedule(at: .now + .milliseconds(300))
    }

    private func send(_ request: UploadRequest, _ number: Int, _ spec: JobSpec) {
        var exchange: ExchangeRequest
        do throws(TransferError) {
            exchange = try builder.exchange(request, of: spec, file: nil)
        } catch {
            return giveUp(number, error)
        }
        exchange.settings.maxTime = Self.patience
        exchange.settings.connectTimeout = Self.patience
        engine.start(exchange, makeSink: { AnswerSink(limit: 64 << 10) }) { [loop] event in
            guard case .ended(let outcome) = event else { return }
            loop.execute {
                self.onLoop { runner in
                    runner.step(number) { dialogue in
                        switch outcome.result {
                        case .failure(let error):
                            dialogue.handle(
                                .failed(request: request.id, error, sent: outcome.sent), now: WallClock.seconds)
                        case .success(let head):
                            dialogue.handle(
                                .answered(
                                    UploadAnswer(
                                        request: request.id, head: head, body: outcome.answer, url: outcome.finalURL)),
                                now: WallClock.seconds)
                        }
                    }
                    runner.pump()
                }
            }
        }
    }

    /// Nothing is held for the job any more.
    private func end(_ number: Int) {
        guard let id = abandonments.removeValue(forKey: number)?.upload.id else { return }
        abandonTimers[number] = nil
        untold[id] = nil
        withStore {
            try $0.forgetAbandoned(id)
        } then: { _, _ in
        }
    }

    /// The server couldn't be told: that stays known, and whoever asks next time tries again.
    private func giveUp(_ number: Int, _ error: TransferError) {
        guard let id = abandonments.removeValue(forKey: number)?.upload.id else { return }
        abandonTimers[number] = nil
        untold[id] = error
    }
}
