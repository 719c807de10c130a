import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// A batch of jobs in the queue's database, checked and ready to run.
public struct StagedBatch: Sendable {
    let staged: StagedJobs
    /// The name of the batch.
    public var name: String { staged.batch.name }
    /// The number of jobs.
    public var jobs: Int { staged.count }
    /// Whether the batch did not exist before.
    package var isNew: Bool { staged.batch.isNew }
    package var number: Int64 { staged.batch.id }
}

/// The reason why jobs were not taken into a batch. None of them was taken then.
public enum StagingError: Error, Sendable {
    /// The supplier of the jobs found faults itself.
    case refused
    /// There are faults between jobs: equal identities or destinations, unknown needs, or cycles.
    case faults(JobFileReport)
    /// The batch belongs to another process, which works on it.
    case held(batch: String, pid: Int32)
}

extension JobQueue {
    // MARK: Batches

    /// Returns the names of all batches, in the order of their submission; throws if the database fails.
    public func batchNames() async throws -> [String] {
        try await batchRegister().names
    }

    /// Returns all batches with their numbers, in the order of their submission; throws if the database fails.
    public func batchRegister() async throws -> BatchRegister {
        let store = store
        return try await reader.run { try store.batchRegister() }
    }

    /// Whether other machines may work on the same batches.
    package var isShared: Bool { store.sharesBatches }

    /// Puts a job into a batch and returns when it is durable there.
    ///
    /// A second submission of the same identity with the same content adds nothing.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - batch: The name of the batch, which is made if it does not exist.
    ///   - directory: The folder that relative paths start from.
    /// - Returns: A handle to follow and steer the job.
    /// - Throws: `TransferError` for an invalid job, or if its identity already has other content; `StagingError` for
    ///   unknown needs.
    @discardableResult
    public func submit(_ job: JobSpec, batch: String, directory: String = "/") async throws -> JobHandle {
        let faults = JobRule.faults(of: job) + [DestinationPath.refusal(ofBatchName: batch)].compactMap { $0 }
        guard faults.isEmpty else { throw TransferError(.badURL, faults.joined(separator: "; ")) }
        let job = job.spelt
        let staged = try await reader.run { [store] in
            do {
                return try store.submit(job, batch: batch, directory: directory)
            } catch let failure as StagingFailure {
                throw StagingError(failure)
            }
        }
        await runner.submitted(staged)
        return JobHandle(batch: batch, identity: job.identity, queue: self)
    }

    /// Returns a job that is already in the queue, whichever process submitted it.
    ///
    /// - Parameters:
    ///   - identity: The `id` that the job was given, else its destination.
    ///   - batch: The name of its batch.
    /// - Returns: `nil` if the batch has no such job.
    /// - Throws: `TransferError` if the database fails.
    public func job(_ identity: String, batch: String) async throws -> JobHandle? {
        let handle = JobHandle(batch: batch, identity: identity, queue: self)
        guard let queueReader else { return handle }
        return try await reader.run { try queueReader.facts(batch: batch, job: identity) == nil ? nil : handle }
    }

    /// Takes in all jobs of a batch or none, and holds the batch for this process.
    ///
    /// - Parameters:
    ///   - name: The batch's identity.
    ///   - source: The real path of the job file.
    ///   - directory: The folder that relative paths start from.
    ///   - keepsWhatIsMissing: Whether jobs that `body` does not add stay in the batch; else they are dropped from it.
    ///   - isReload: Whether the batch's run continues. Unchanged jobs then stay as they are, even if they failed, were
    ///     cancelled or are held; otherwise these begin anew.
    ///   - onFinish: The hook that is called when all jobs of the batch have ended.
    ///   - body: A function that passes each job to its argument, with its place in the file, and returns whether all
    ///     went well. It is called again if a changed job is under way: that job is interrupted and begins anew.
    /// - Returns: The batch, ready to run.
    /// - Throws: `StagingError`, or `TransferError` if the database fails.
    public func stage(
        name: String, source: String?, directory: String, keepsWhatIsMissing: Bool = false, isReload: Bool = false,
        onFinish: BatchHook? = nil,
        _ body: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    ) async throws -> StagedBatch {
        try await stage(
            JobReading(directory: directory, body), name: name, source: source, keepsWhatIsMissing: keepsWhatIsMissing,
            isReload: isReload, onFinish: onFinish)
    }

    /// Takes in all jobs of a batch, of which some may have been read already.
    ///
    /// - Parameters:
    ///   - jobs: The jobs of the batch.
    ///   - name: The batch's identity.
    ///   - source: The real path of the job file.
    ///   - keepsWhatIsMissing: Whether jobs that are not in `jobs` stay in the batch; else they are dropped from it.
    ///   - isReload: Whether the batch's run continues, as in the method with a closure.
    ///   - onFinish: The hook that is called when all jobs of the batch have ended.
    ///   - revoking: A function that is called once if other processes have changed or missing jobs under way, with
    ///     the number of these jobs. Those processes release them first, within seconds or when the lease of a dead one
    ///     ends.
    /// - Returns: The batch, ready to run.
    /// - Throws: `StagingError`. `TransferError` if the database fails, or if changed jobs stay under way for five
    ///   minutes: nothing is taken then, and the jobs continue unchanged.
    public func stage(
        _ jobs: JobReading, name: String, source: String?, keepsWhatIsMissing: Bool = false, isReload: Bool = false,
        onFinish: BatchHook? = nil, revoking: @Sendable (_ jobs: Int) -> Void = { _ in }
    ) async throws -> StagedBatch {
        try await stage(
            jobs, BatchHeader(name: name, source: source, directory: jobs.directory, onFinish: .set(onFinish)),
            StagingOptions(keepsWhatIsMissing: keepsWhatIsMissing, isReload: isReload), revoking)
    }

    /// Takes in all jobs of a batch or none, and holds the batch for this process.
    ///
    /// - Parameters:
    ///   - header: The batch without its jobs.
    ///   - options: The options of staging. The key of a submission is stored with the jobs.
    ///   - body: A function that passes each job to its argument, as for a batch from a file.
    /// - Throws: `StagingError`; `SubmissionKeyTaken`; `TransferError` if the database fails.
    package func stage(
        _ header: BatchHeader, _ options: StagingOptions,
        _ body: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    ) async throws -> StagedBatch {
        try await stage(JobReading(directory: header.directory, body), header, options) { _ in }
    }

    private func stage(
        _ jobs: JobReading, _ header: BatchHeader, _ options: StagingOptions, _ revoking: @Sendable (Int) -> Void
    ) async throws -> StagedBatch {
        var options = options
        options.claiming = StagingOptions.mostClaimed
        do {
            let deadline = MonotonicTime.now + Self.revocationTime
            var isReported = false
            for _ in 0..<Self.stagingRounds {
                let staged = try await reader.run { [store, options] in
                    try store.stage(header, options) { stager in
                        try jobs.takeAll { job in try stager.add(job) }
                    }
                }
                if staged.underWay.isEmpty { return StagedBatch(staged: staged) }
                let left = try await revoke(staged.underWay)
                if left > 0, !isReported { revoking(left) }
                isReported = isReported || left > 0
                guard try await areReleased(staged.underWay, by: deadline) else { break }
                await runner.giveBack(staged.underWay)
            }
            throw TransferError(
                .timedOut,
                "\(header.name): jobs that were changed or removed are still under way; nothing of the file was taken: bring it again, or stop the workers that have them"
            )
        } catch let failure as StagingFailure {
            throw StagingError(failure)
        } catch {
            throw store.fault(error)
        }
    }

    private func revoke(_ jobs: Set<Int64>) async throws -> Int {
        try await reader.run { [store] in try store.revoke(jobs) }
    }

    /// Waits until no other process has these jobs claimed.
    ///
    /// - Returns: Whether they were released in time.
    private func areReleased(_ jobs: Set<Int64>, by deadline: MonotonicTime) async throws -> Bool {
        while try await revoke(jobs) > 0 {
            guard MonotonicTime.now < deadline else { return false }
            // A sleep, because there is no event to wait for. A process that only brings jobs is not notified of a
            // release, nor of the end of a lease.
            try await Task.sleep(for: .milliseconds(200))
        }
        return true
    }

    /// Releases a batch to any process that works on the queue.
    package func leave(_ batch: StagedBatch) async throws {
        let (store, id) = (store, batch.staged.batch.id)
        _ = try await reader.run {
            do { return try store.release(batch: id, isComplete: false) } catch { throw store.fault(error) }
        }
    }

    // MARK: Many callers at once

    /// Puts the submissions of several callers into a batch, and returns when they are durable, with one wait for the
    /// disk.
    ///
    /// - Parameters:
    ///   - groups: The jobs of each caller, already checked by ``JobRule``. A group is taken whole or not at all, and
    ///     remembered by its key.
    ///   - batch: The name of the batch, which is made if it does not exist.
    ///   - directory: The folder that the batch's relative paths start from.
    ///   - startsPaused: Whether new jobs wait until a user resumes them.
    /// - Throws: `StagingError` for unknown needs and for a destination of two jobs, `SubmissionKeyTaken` for a key
    ///   that another process took. No group is taken then.
    package func submit(
        groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool = false
    ) async throws -> [SubmittedJobs] {
        let groups = groups.map(\.spelt)
        let (results, staged) = try await reader.run { [store] in
            do {
                return try store.submit(
                    groups, batch: batch, directory: directory, startsPaused: startsPaused)
            } catch let failure as StagingFailure {
                throw StagingError(failure)
            } catch {
                throw store.fault(error)
            }
        }
        await runner.submitted(staged)
        return results
    }

    /// Returns the answer to the submission with this key, for a day after it was taken.
    package func answered(key name: String) async throws -> AnsweredSubmission? {
        try await reader.run { [store] in
            do { return try store.answered(key: name) } catch { throw store.fault(error) }
        }
    }

    /// Changes a job that has not ended, if it stays the same job: its priority or its limits. A job under way
    /// continues under another priority or another rate limit; a first limit interrupts it.
    ///
    /// - Throws: `TransferError` if the job no longer exists or has ended.
    package func amend(
        _ number: Int64, batch: String, job: String, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws {
        guard try await amend([number: job], batch: batch, change) > 0 else {
            throw TransferError(.invalidRequest, "the job \"\(job)\" has ended")
        }
    }

    /// Changes jobs as ``amend(_:batch:job:_:)`` does; those that have ended stay as they are.
    ///
    /// - Parameter jobs: The identities of the jobs, by their numbers.
    /// - Returns: The number of jobs that were changed.
    package func amend(
        _ jobs: [Int64: String], batch: String, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws -> Int {
        var changed = try await amended(Set(jobs.keys), isRunning: false, change)
        func others() -> Set<Int64> { Set(jobs.keys).subtracting(changed) }
        if !others().isEmpty {
            let running = await runner.amend(others(), change)
            changed.formUnion(try await amended(running, isRunning: true, change))
        }
        guard !others().isEmpty else { return changed.count }
        await runner.giveBack(others())
        let given = try await amended(others(), isRunning: false, change)
        // The jobs were held back only for the change, and continue now.
        for number in given { try await ask(.retry, batch: batch, job: jobs[number]) }
        return changed.count + given.count
    }

    /// Changes failed jobs and tries them again. Their signatures may have expired, and the change brings newer ones.
    /// Jobs that the change leaves as they are stay failed, and so do those that may have arrived.
    ///
    /// - Parameters:
    ///   - jobs: The identities of the jobs, by their numbers.
    ///   - change: The change, which leaves a job's fingerprint as it is.
    package func renew(
        _ jobs: [Int64: String], batch: String, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws {
        let changed = try await reader.run { [store] in
            do { return try store.renew(jobs.keys.sorted(), change) } catch { throw store.fault(error) }
        }
        for number in changed.sorted() { try await ask(.retry, batch: batch, job: jobs[number]) }
    }

    private func amended(
        _ numbers: Set<Int64>, isRunning: Bool, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws -> Set<Int64> {
        guard !numbers.isEmpty else { return [] }
        return try await reader.run { [store] in
            do {
                return try store.amend(numbers.sorted(), isOwn: isRunning, change)
            } catch {
                throw store.fault(error)
            }
        }
    }

    /// The most rounds of staging. A released job may be claimed again before it is changed, but not for ever.
    private static let stagingRounds = 10
    /// The longest wait for a release: the jobs of a dead worker stay claimed until its lease ends.
    private static let revocationTime = Duration.seconds(300)

    func lastCursor() async throws -> Int64 { try await reader.run { [store] in try store.lastCursor() } }

    func end(of job: JobHandle) async throws -> QueueEvent? {
        try await reader.run { [store] in try store.end(batch: job.batch, job: job.identity) }
    }
}

extension StagingError {
    init(_ failure: StagingFailure) {
        switch failure {
        case .refused: self = .refused
        case .held(let held): self = .held(batch: held.batch, pid: held.pid)
        case .faults(let report): self = .faults(report)
        }
    }
}

// The end of a run in order.
extension JobQueue {
    /// Ends a run in order: from now on no job is claimed or started, and the transfers under way end. Those that have
    /// not ended by then are checkpointed, and their jobs given back, as by ``stop()``. The run then returns.
    ///
    /// A database that is away shortens the wait to a few seconds, because ends cannot be recorded.
    ///
    /// - Parameters:
    ///   - limit: The time for the transfers under way; 0 checkpoints them at once.
    ///   - begun: A function that gets the number of jobs under way before the wait, on the queue's own thread.
    public func drain(within limit: Duration, begun: @escaping @Sendable (Int) -> Void = { _ in }) async -> DrainReport
    {
        await runner.drain(within: limit, begun: begun)
    }

    /// Whether the queue's database has not answered of late. May be called from any thread.
    package var isDatabaseAway: Bool { store.isAway }

    /// Ends waits for a database that does not answer; later calls wait for seconds at most. The queue can only be closed
    /// afterwards. May be called from any thread.
    package func cancelWaits() { store.cancelWaits() }
}
