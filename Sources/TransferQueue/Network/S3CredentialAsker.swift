import FoundationEssentials
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

/// The shell that asks sources of S3 credentials: over the engine, or by a program on a worker thread. It asks a source
/// once at a time, however many jobs wait for it, and again before the credentials end.
actor S3CredentialAsker {
    /// A source that has to be asked, with the places that had no credentials.
    struct Want: Sendable, Hashable {
        var source: S3CredentialSource
        var searched: [String]

        init(source: S3CredentialSource, searched: [String]) {
            self.source = source
            self.searched = searched
        }

        init?(_ plan: S3CredentialPlan) {
            guard case .asked(let source, let searched) = plan else { return nil }
            self.init(source: source, searched: searched)
        }
    }

    private let engine: any ExchangePerformer
    private let builder: RequestBuilder
    private let memory: S3CredentialMemory
    private var underWay: [S3CredentialSource: Task<TransferError?, Never>] = [:]

    /// The most bytes of an answer.
    private static let most = 64 << 10

    init(engine: any ExchangePerformer, builder: RequestBuilder) {
        self.engine = engine
        self.builder = builder
        memory = builder.secrets.leases ?? S3CredentialMemory()
        memory.onRenewal { [weak self] source in
            Task { _ = await self?.ask(Want(source: source, searched: [])) }
        }
    }

    // MARK: Jobs

    /// Asks for the S3 credentials that a job's requests need.
    ///
    /// - Throws: The error of the source.
    nonisolated func ensure(_ spec: JobSpec, _ secrets: SecretSource) async throws(TransferError) {
        if let failure = await ask(wants(of: spec, secrets)) { throw failure }
    }

    /// Returns the sources without which the job's requests cannot be signed now. A fault in the settings is reported by
    /// the request.
    nonisolated func wants(of spec: JobSpec, _ secrets: SecretSource) -> [Want] {
        plans(of: spec, secrets).compactMap(Want.init)
            .filter { memory.current($0.source, now: WallClock.seconds) == nil }
    }

    /// Makes a refusal of expired credentials transient, if their source has new ones.
    nonisolated func judged(_ error: TransferError, of spec: JobSpec, _ secrets: SecretSource) -> TransferError {
        guard let key = error.expiredAccessKey else { return error }
        let plans = plans(of: spec, secrets)
        let sources = plans.compactMap(Want.init)
        // Keys that are written down are not renewed, whatever the other side of a copy has.
        guard !sources.isEmpty, !plans.contains(where: { $0.accessKey == key }) else { return error }
        for source in sources { memory.expired(key, of: source.source, now: WallClock.seconds) }
        var error = error
        // The status of the refusal would make it final.
        (error.isTransient, error.cause) = (true, nil)
        return error
    }

    /// Returns where the credentials of both sides of a job come from.
    private nonisolated func plans(of spec: JobSpec, _ secrets: SecretSource) -> [S3CredentialPlan] {
        var accesses: [JobSettings.S3Access] = []
        if spec.urls.contains(where: S3URL.isOne) { accesses.append(spec.settings.s3 ?? JobSettings.S3Access()) }
        if let from = spec.copySource, from.download.urls.contains(where: S3URL.isOne) {
            accesses.append(from.settings.s3 ?? JobSettings.S3Access())
        }
        return accesses.compactMap { access in try? access.plan(secrets) }
    }

    // MARK: Questions

    fileprivate func ask(_ wants: [Want]) async -> TransferError? {
        // An answer to another job may have come meanwhile.
        for want in wants where memory.current(want.source, now: WallClock.seconds) == nil {
            if let failure = await ask(want) { return failure }
        }
        return nil
    }

    private func ask(_ want: Want) async -> TransferError? {
        guard let error = await asked(want.source) else { return nil }
        guard case .instance = want.source, !memory.knows(want.source), !error.isTransient else { return error }
        // Most machines have no role: the error names all the places.
        let reason = error.message.dropFirst("no S3 credentials: ".count)
        return S3Settings.missing(want.searched + [String(reason)])
    }

    private func asked(_ source: S3CredentialSource) async -> TransferError? {
        if let task = underWay[source] { return await task.value }
        if let failure = memory.failure(of: source, now: WallClock.seconds) { return failure }
        let task = Task { await self.obtain(source) }
        underWay[source] = task
        let failure = await task.value
        underWay[source] = nil
        return failure
    }

    private func obtain(_ source: S3CredentialSource) async -> TransferError? {
        do throws(TransferError) {
            let lease = try await lease(from: source)
            guard lease.isUsable(now: WallClock.seconds) else {
                throw S3CredentialAnswer.fault(
                    source, "gave credentials that have expired; this machine's clock may be wrong")
            }
            memory.took(lease, from: source, now: WallClock.seconds)
            return nil
        } catch {
            memory.failed(source, error, now: WallClock.seconds)
            return error
        }
    }

    /// Asks a source. If the service of a role refuses the credentials that assume it, their own source is asked again,
    /// once.
    private func lease(from source: S3CredentialSource) async throws(TransferError) -> S3CredentialLease {
        let isKnown = memory.knows(source)
        do throws(TransferError) {
            return try await answer(of: source, isKnown: isKnown)
        } catch {
            guard let key = error.expiredAccessKey, case .asked(let base, _)? = try basePlan(of: source),
                memory.expired(key, of: base, now: WallClock.seconds)
            else { throw error }
        }
        do throws(TransferError) {
            return try await answer(of: source, isKnown: isKnown)
        } catch {
            // The refused key is not the job's.
            var error = error
            (error.hasExpiredCredentials, error.expiredAccessKey) = (false, nil)
            throw error
        }
    }

    private func answer(
        of source: S3CredentialSource, isKnown: Bool
    ) async throws(TransferError) -> S3CredentialLease {
        if case .process(let process) = source {
            return try S3CredentialAnswer.json(try await output(of: process, source), from: source)
        }
        var dialogue = S3CredentialDialogue(
            source, secret: try await secret(of: source), base: try await base(of: source), isKnown: isKnown)
        var step = dialogue.begin(now: WallClock.seconds)
        while true {
            switch step {
            case .done(let lease): return lease
            case .failed(let error): throw error
            case .ask(let question):
                let outcome = await perform(question)
                switch outcome.result {
                case .success(let head): step = dialogue.answered(head.status, outcome.answer)
                case .failure(let error): step = dialogue.failed(error)
                }
            }
        }
    }

    /// Returns the credentials that assume a role, which may come from a source of their own.
    private func base(of source: S3CredentialSource) async throws(TransferError) -> S3Credentials? {
        switch try basePlan(of: source) {
        case nil: return nil
        case .known(let credentials): return credentials
        case .asked(let other, let searched):
            try checkEnd(of: other, from: source)
            if let current = memory.current(other, now: WallClock.seconds) { return current }
            if let failure = await ask(Want(source: other, searched: searched)) { throw failure }
            return memory.current(other, now: WallClock.seconds)
        }
    }

    private func basePlan(of source: S3CredentialSource) throws(TransferError) -> S3CredentialPlan? {
        guard case .assumedRole(let role) = source else { return nil }
        return try JobSettings.S3Access().plan(base: role.base, of: role.role, builder.secrets)
    }

    /// Checks that roles which are assumed by roles end at other credentials. Profiles that name each other would wait
    /// for each other for ever.
    private func checkEnd(of base: S3CredentialSource, from source: S3CredentialSource) throws(TransferError) {
        var seen: Set = [source]
        var next = base
        while seen.insert(next).inserted {
            guard case .asked(let other, _)? = try basePlan(of: next) else { return }
            next = other
        }
        throw S3CredentialAnswer.fault(source, "is assumed by \(base), whose profiles name each other")
    }

    private func perform(_ question: S3CredentialDialogue.Question) async -> ExchangeOutcome {
        var request = ExchangeRequest(
            url: question.url, method: question.method,
            headers: question.headers + [HeaderField("User-Agent", builder.userAgent)],
            body: question.body.isEmpty ? .none : .bytes(question.body))
        request.settings.followsRedirects = false
        request.settings.connectTimeout = .seconds(question.timeout)
        request.settings.maxTime = .seconds(question.timeout)
        request.settings.keptOfRefusals = 16 << 10
        if !question.isLocal { request.settings.proxies = builder.proxies }
        return await withCheckedContinuation { continuation in
            engine.start(request, makeSink: { AnswerSink(limit: Self.most) }) { event in
                if case .ended(let outcome) = event { continuation.resume(returning: outcome) }
            }
        }
    }

    /// Returns the text that the source's question needs, read on a worker thread.
    private func secret(of source: S3CredentialSource) async throws(TransferError) -> String {
        guard let path = source.file else {
            guard case .container = source else { return "" }
            return builder.secrets.variable(S3CredentialSource.Container.tokenVariable) ?? ""
        }
        guard let text = try? await engine.workers.run({ SecretSource.text(of: path) }) else {
            var advice = ""
            if case .singleSignOn(let signOn) = source { advice = "; run `\(signOn.login)`" }
            throw S3CredentialAnswer.fault(source, "needs \(path), which cannot be read\(advice)")
        }
        return text
    }

    /// Returns what the program of a profile writes. It gets this process's environment, as from the AWS tools.
    private func output(
        of process: S3CredentialSource.Process, _ source: S3CredentialSource
    ) async throws(TransferError) -> [UInt8] {
        let command = HookCommand(process.arguments)
        let answer = await withCheckedContinuation { continuation in
            engine.workers.execute {
                continuation.resume(
                    returning: Result { () throws(TransferError) in
                        try CommandRun().output(
                            of: command, named: "credential_process",
                            environment: ProcessInfo.processInfo.environment, limit: Self.most)
                    })
            }
        }
        switch answer {
        case .success(let bytes): return bytes
        case .failure(let error):
            var failure = S3CredentialAnswer.fault(source, "failed: \(error.message)")
            // A program that never worked is a slip of the profile.
            failure.isTransient = error.isTransient && memory.knows(source)
            throw failure
        }
    }
}

extension CredentialHost {
    /// Asks for the S3 credentials that a job lacks; the job continues once they are there.
    ///
    /// - Returns: Whether the job has to wait for an answer.
    func ask(_ leases: S3CredentialAsker, for job: RunningJob, _ secrets: SecretSource) -> Bool {
        let wants = leases.wants(of: job.record.spec, secrets)
        guard !wants.isEmpty else { return false }
        let id = job.candidate.id
        Task {
            let failure = await leases.ask(wants)
            loop.execute { self.onLoop { $0.leased(id, failure) } }
        }
        return true
    }

    private func leased(_ id: Int64, _ failure: TransferError?) {
        guard let job = underWay(id) else { return }
        if let failure {
            failed(job, failure, bodyLeft: false, progressed: false)
        } else {
            transfer(id)
        }
        pump()
    }
}
