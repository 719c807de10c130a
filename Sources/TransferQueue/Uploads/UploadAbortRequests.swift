import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferUpload

/// The part of the runner that abandoned uploads need.
protocol UploadAbortHost: PartHost {
    var abandonments: UploadAbortRequests { get }
    /// The secrets of jobs, which are never stored.
    var knownSecrets: [Int64: JobSecrets] { get }
    /// Whether other processes work on the batches at the same time.
    var sharesBatches: Bool { get }
}

/// The requests that notify servers of uploads given up for good, as the ``Abandoner`` decides.
final class UploadAbortRequests {
    private var abandoner = UploadAborts()
    private let engine: any ExchangePerformer
    private let builder: RequestBuilder
    private let leases: S3CredentialAsker
    private let accept: JobJudge

    /// The longest time that a notification of a server may take.
    private static let patience: Duration = .seconds(10)

    /// The most uploads that are taken at a time, if other processes notify servers too.
    private static let mostTaken = 100

    /// Creates the service.
    ///
    /// - Parameter accept: The judge of uploads that other processes may have brought.
    init(
        engine: any ExchangePerformer, builder: RequestBuilder, leases: S3CredentialAsker, accept: @escaping JobJudge
    ) {
        self.engine = engine
        self.leases = leases
        self.builder = builder
        self.accept = accept
    }

    /// Whether no notification is under way.
    var isEmpty: Bool { abandoner.isEmpty }

    /// The reasons why servers could not be notified, by job.
    var failures: [Int64: TransferError] { abandoner.failures }

    /// Notifies the servers of a batch's cancelled jobs.
    func abandonCancelled(_ batch: Int64, on host: isolated some UploadAbortHost) {
        guard !host.sharesBatches else { return abandonTaken(on: host) }
        let known = host.knownSecrets
        host.withStore {
            try $0.abandonedUploads(batch: batch, secrets: known)
        } then: { host, uploads in
            let own = host.abandonments
            for upload in uploads where !own.abandoner.isUnderWay(upload.id) { own.abandon(upload, on: host) }
        }
    }

    /// Notifies the servers of cancelled jobs that no other process has taken.
    func abandonTaken(on host: isolated some UploadAbortHost) {
        host.withStore {
            try $0.takeAbandonedUploads(limit: Self.mostTaken)
        } then: { host, uploads in
            for upload in uploads { host.abandonments.abandon(taken: upload, on: host) }
        }
    }

    private func abandon(taken upload: AbandonedUpload, on host: isolated some UploadAbortHost) {
        guard !abandoner.isUnderWay(upload.id) else { return }
        do throws(TransferError) {
            let spec = try accept(upload.spec)
            abandon(AbandonedUpload(id: upload.id, spec: spec, upload: upload.upload), on: host)
        } catch {
            abandoner.cannotTell(upload.id, error)
        }
    }

    func abandon(_ upload: AbandonedUpload, on host: isolated some UploadAbortHost) {
        guard !leases.wants(of: upload.spec, builder.secrets).isEmpty else { return tell(of: upload, on: host) }
        abandoner.beginAsking(upload.id)
        Task { [host, leases, secrets = builder.secrets] in
            // Without credentials, the dialogue reports their lack.
            try? await leases.ensure(upload.spec, secrets)
            host.loop.execute {
                host.onLoop { host in
                    let own = host.abandonments
                    own.abandoner.endAsking(upload.id)
                    own.tell(of: upload, on: host)
                    host.pump()
                }
            }
        }
    }

    private func tell(of upload: AbandonedUpload, on host: isolated some UploadAbortHost) {
        do throws(TransferError) {
            guard let dialogue = try dialogue(about: upload) else { return }
            perform(abandoner.begin(upload, dialogue, now: WallClock.seconds), on: host)
        } catch {
            abandoner.cannotTell(upload.id, error)
        }
    }

    /// Starts over after the pause before another try.
    func again(_ number: Int, on host: isolated some UploadAbortHost) {
        let actions = abandoner.again(number, now: WallClock.seconds) { upload throws(TransferError) in
            try dialogue(about: upload)
        }
        perform(actions, on: host)
    }

    /// Creates a dialogue about an upload.
    ///
    /// - Returns: `nil` if no server holds data of it.
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

    private func perform(_ actions: [UploadAborts.Action], on host: isolated some UploadAbortHost) {
        for action in actions {
            switch action {
            case .send(let request, let number, let spec): send(request, number, spec, on: host)
            case .wait(let number, let pause): host.timer(.abandonment(number)).schedule(at: .now + pause)
            case .forget(let id): host.note([.abandoned(id)])
            }
        }
    }

    private func send(_ request: UploadRequest, _ number: Int, _ spec: JobSpec, on host: isolated some UploadAbortHost)
    {
        var exchange: ExchangeRequest
        do throws(TransferError) {
            exchange = try builder.exchange(request, of: spec, source: nil)
        } catch {
            return abandoner.fail(number, error)
        }
        exchange.settings.maxTime = Self.patience
        exchange.settings.connectTimeout = Self.patience
        engine.start(exchange, makeSink: { AnswerSink(limit: 64 << 10) }) { [host] event in
            guard case .ended(let outcome) = event else { return }
            let answer: UploadEvent =
                switch outcome.result {
                case .failure(let error): .failed(request: request.id, error, sent: outcome.sent)
                case .success(let head):
                    .answered(
                        UploadAnswer(request: request.id, head: head, body: outcome.answer, url: outcome.finalURL))
                }
            host.loop.execute {
                host.onLoop { host in
                    let own = host.abandonments
                    own.perform(own.abandoner.handle(answer, of: number, now: WallClock.seconds), on: host)
                    host.pump()
                }
            }
        }
    }
}
