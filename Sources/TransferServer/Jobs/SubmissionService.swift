import HTTPTypes
import TransferQueue

/// The handler of jobs that clients submit. It checks and confines them, and adds them to batches for clients.
struct SubmissionService: Sendable {
    let served: ServedQueue
    let intake: SubmissionBatcher
    let requests: IdempotentRequests
    private let own = OwnBatches()
    let limits: ServerLimits
    /// The sealer of secrets that clients write out; `nil` where the queue has no key.
    private let sealer: JobSealer?
    /// Whether other processes take jobs from the queue, which know only sealed secrets.
    private let isShared: Bool

    /// The batch of jobs that name none.
    static let standardBatch = "api"

    struct Taken: Sendable {
        let numbers: [Int64]
        let added: Int
    }

    init(_ served: ServedQueue, _ configuration: ServerConfiguration) {
        self.served = served
        limits = configuration.limits
        sealer = configuration.sealer
        isShared = configuration.isShared
        intake = SubmissionBatcher(served.queue, directory: served.rules.directory)
        requests = IdempotentRequests { [queue = served.queue] key in try await queue.answered(key: key) }
    }

    var reader: OutsideReader { OutsideReader(rules: served.rules, takesSecrets: sealer != nil) }

    /// Reads jobs.
    ///
    /// - Throws: `Problem` with all faults.
    func read(_ bytes: [UInt8], format: JobFileFormat?, isJobs: Bool) async throws -> OutsideReader.Read {
        let reader = reader
        let most = isJobs ? limits.jobs : .max
        return try await served.off { try reader.read(bytes, format: format, isJobs: isJobs, limit: most) }
    }

    /// Adds jobs to a batch, and returns once they are durable.
    ///
    /// - Parameter key: The request's key, which is stored with the jobs.
    /// - Throws: `Problem` where one of the jobs is refused, after which none is added; `SubmissionKeyTaken`.
    func submit(
        _ jobs: [JobSpec], batch: String, startsPaused: Bool = false, key: SubmissionKey? = nil
    ) async throws -> Taken {
        if !own.holds(batch) {
            try await check(batch: batch)
            own.add(batch)
        }
        let result: SubmittedJobs
        let jobs = try jobs.map(sealed)
        do {
            result = try await intake.submit(
                SubmissionGroup(jobs, key: key), batch: batch, startsPaused: startsPaused)
        } catch {
            throw Self.problem(error)
        }
        switch result {
        case .taken(let numbers, let added):
            if added < numbers.count { try await renewSecrets(of: jobs, numbers, batch: batch) }
            return Taken(numbers: numbers, added: added)
        case .conflict(let index, let identity):
            var problem = Problem.conflict(
                "conflict", "the batch has another job \(Wording.quoted(identity)); give this one an id of its own")
            problem.errors = [Problem.Fault(pointer: "/\(index)/id", detail: problem.detail)]
            throw problem
        }
    }

    /// Gives a job of a batch new content. Jobs that have ended begin anew.
    ///
    /// - Parameters:
    ///   - isPaused: Whether the job waits until a client resumes it.
    ///   - isReload: Whether a job that has not ended keeps its state.
    /// - Throws: `Problem` where the job is refused.
    func restage(_ spec: JobSpec, batch: String, isPaused: Bool = false, isReload: Bool = false) async throws {
        try await check(batch: batch)
        let spec = try sealed(spec).spelt
        do {
            let staged = try await served.queue.stage(
                BatchHeader(name: batch, directory: served.rules.directory),
                StagingOptions(keepsWhatIsMissing: true, isReload: isReload, startsPaused: isPaused)
            ) { take in
                try take(spec, nil)
                return true
            }
            await served.queue.begin(staged)
        } catch {
            throw Self.problem(error)
        }
    }

    /// Returns a job within the bounds of clients' jobs.
    ///
    /// - Throws: A 403 for a job beyond them.
    func confined(_ spec: JobSpec) async throws -> JobSpec {
        let rules = served.rules
        do {
            return try await served.off { try rules.confined(spec) }
        } catch let refusal as OutsideRules.Refusal {
            throw Problem.forbidden(refusal.code, refusal.message, hint: refusal.hint)
        }
    }

    /// Returns the job in a form that outlives this process.
    func sealed(_ spec: JobSpec) throws -> JobSpec {
        if let sealer { return try sealer.sealed(spec) }
        guard isShared, spec.hasSecret else { return spec }
        throw Problem(
            .unprocessableContent, "secretRefused",
            "its URL or its headers hold a secret, and this service has no key to seal it for the queue",
            hint: CommandPhrases.only("--queue-key names one, for the service and for its workers"))
    }

    /// Gives jobs that the batch had already the secrets of their new submission, such as a newer signature. A job that
    /// has failed, perhaps because its signature had expired, is tried again with other secrets than before.
    private func renewSecrets(of jobs: [JobSpec], _ numbers: [Int64], batch: String) async throws {
        for (spec, number) in zip(jobs, numbers) {
            guard let sealer, let sealed = spec.settings.sealed else { continue }
            let queue = served.queue
            let changed = try await queue.amend([number: spec.identity], batch: batch) { $0.settings.sealed = sealed }
            guard changed == 0 else { continue }
            try await queue.renew([number: spec.identity], batch: batch) { known in
                if !sealer.holdSameSecrets(known, spec) { known.settings.sealed = sealed }
            }
        }
    }

    /// Checks that clients may add jobs to a batch.
    ///
    /// - Returns: The state of the batch; `nil` where it does not exist yet.
    /// - Throws: A 422 for an invalid name, a 409 for a batch of this machine's own job files and folders.
    @discardableResult
    func check(batch: String) async throws -> BatchStatus? {
        if let refusal = DestinationPath.refusal(ofBatchName: batch) {
            throw Problem(.unprocessableContent, "badName", refusal)
        }
        guard let status = try await served.look({ try $0.statuses(name: batch).first }) else { return nil }
        guard status.source == nil, status.directory == served.rules.directory else {
            throw Problem.conflict("foreignBatch", "the batch \(Wording.quoted(batch)) is a job file's of this machine")
        }
        return status
    }

    /// Returns the response for jobs that conflict with each other.
    static func problem(_ error: any Error) -> any Error {
        switch error {
        case StagingError.faults(let report):
            var problem = Problem(
                .unprocessableContent, "invalidJobs", report.faults.first?.message ?? "the jobs do not go together")
            problem.errors = report.faults.map { Problem.Fault(detail: $0.message) }
            return problem
        case StagingError.held(let batch, let pid):
            return Problem.conflict("held", "process \(pid) works on the batch \(Wording.quoted(batch))")
        default: return error
        }
    }
}
