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

    /// Without an end for whoever waits for the job: what comes of it is of no interest to it.
    func abandon(_ upload: SQLiteStore.AbandonedUpload, triesLeft: Int = 10) {
        guard case .upload(let work) = upload.spec.work, !VerifyingDialogue.isVerifying(upload.upload.state) else {
            return
        }
        let source = UploadSource(name: "", size: upload.upload.size)
        let made = Result { () throws(TransferError) in
            try UploadProtocols.dialogue(
                upload.spec, work, source: source, state: upload.upload.state, secrets: builder.secrets)
        }
        guard case .success(let dialogue?) = made else { return }
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
            // Whoever asks next time tries again.
            case .fail(let error) where error.isTransient: return end(number, nil)
            case .finish, .fail: return end(number, abandonment.upload.id)
            case .save, .confirmed, .restart, .digest, .stop: break
            }
        }
    }

    private func again(_ number: Int) {
        guard let old = abandonments[number] else { return }
        let timer = loop.makeTimer { [weak self] in
            self?.assumeIsolated { runner in
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
        let made = Result { () throws(TransferError) in try builder.exchange(request, of: spec, file: nil) }
        guard case .success(var exchange) = made else { return end(number, abandonments[number]?.upload.id) }
        exchange.settings.maxTime = Self.patience
        exchange.settings.connectTimeout = Self.patience
        engine.start(exchange, makeSink: { AnswerSink(limit: 64 << 10) }) { [loop] event in
            guard case .ended(let outcome) = event else { return }
            loop.execute {
                self.assumeIsolated { runner in
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

    /// - Parameter job: The one that nothing is held for any more; `nil` when its server couldn't be told.
    private func end(_ number: Int, _ job: Int64?) {
        abandonments[number] = nil
        abandonTimers[number] = nil
        guard let job else { return }
        withStore {
            try $0.forgetAbandoned(job)
        } then: { _, _ in
        }
    }
}
