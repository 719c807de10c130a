import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// Performs what the abandoner wants.
extension QueueRunner {
    /// The longest that somebody waits for a server that is told.
    private static let patience: Duration = .seconds(10)

    /// Tells the servers of a batch's cancelled jobs.
    func abandonCancelled(_ batch: Int64) {
        let known = memory.secrets
        withStore {
            try $0.abandonedUploads(batch: batch, secrets: known)
        } then: { runner, uploads in
            for upload in uploads where !runner.abandoner.isUnderWay(upload.id) { runner.abandon(upload) }
        }
    }

    func abandon(_ uploads: [AbandonedUpload]) { for upload in uploads { abandon(upload) } }

    func abandon(_ upload: AbandonedUpload) {
        do throws(TransferError) {
            guard let dialogue = try dialogue(about: upload) else { return }
            perform(abandoner.begin(upload, dialogue, now: WallClock.seconds))
        } catch {
            abandoner.cannotTell(upload.id, error)
        }
    }

    func abandonAgain(_ number: Int) {
        perform(
            abandoner.again(number, now: WallClock.seconds) { upload throws(TransferError) in
                try dialogue(about: upload)
            })
    }

    /// - Returns: `nil` where no server holds anything.
    private func dialogue(
        about upload: AbandonedUpload
    ) throws(TransferError) -> (any UploadDialogue)? {
        guard case .upload(let work) = upload.spec.work, let state = upload.upload.state,
            !VerifyingDialogue.isVerifying(state)
        else { return nil }
        let source = UploadSource(name: "", size: upload.upload.size)
        return try UploadAttempt(
            spec: upload.spec, upload: work, source: source, state: state, secrets: builder.secrets
        ).dialogue()
    }

    private func perform(_ actions: [Abandoner.Action]) {
        for action in actions {
            switch action {
            case .send(let request, let number, let spec): send(request, number, spec)
            case .wait(let number, let pause): timer(.abandonment(number)).schedule(at: .now + pause)
            case .forget(let id):
                withStore {
                    try $0.note([.abandoned(id)])
                } then: { _, _ in
                }
            }
        }
    }

    private func send(_ request: UploadRequest, _ number: Int, _ spec: JobSpec) {
        var exchange: ExchangeRequest
        do throws(TransferError) {
            exchange = try builder.exchange(request, of: spec, file: nil)
        } catch {
            return abandoner.fail(number, error)
        }
        exchange.settings.maxTime = Self.patience
        exchange.settings.connectTimeout = Self.patience
        engine.start(exchange, makeSink: { AnswerSink(limit: 64 << 10) }) { [loop] event in
            guard case .ended(let outcome) = event else { return }
            let answer: UploadEvent =
                switch outcome.result {
                case .failure(let error): .failed(request: request.id, error, sent: outcome.sent)
                case .success(let head):
                    .answered(
                        UploadAnswer(request: request.id, head: head, body: outcome.answer, url: outcome.finalURL))
                }
            loop.execute {
                self.onLoop { runner in
                    runner.perform(runner.abandoner.handle(answer, of: number, now: WallClock.seconds))
                    runner.pump()
                }
            }
        }
    }
}
