import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// Jobs that are in the queue's database, checked and ready to run.
public struct StagedBatch: Sendable {
    let staged: StagedJobs
    public var name: String { staged.batch.name }
    public var jobs: Int { staged.count }
    /// Whether there was no batch of that name.
    package var isNew: Bool { staged.batch.isNew }
    package var number: Int64 { staged.batch.id }
}

/// Why jobs were not taken into a batch: nothing of them was.
public enum StagingError: Error, Sendable {
    /// The one who supplied the jobs found faults of its own.
    case refused
    /// Faults between jobs: equal identities or destinations, unknown needs, circles.
    case faults(JobFileReport)
    /// Another process works on the batch.
    case held(batch: String, pid: Int32)
}

extension JobQueue {
    /// Whether other machines may work on the same batches.
    package var isShared: Bool { store.sharesBatches }

    /// Puts a job into a batch and returns when it's durable there.
    ///
    /// The same identity with the same content is taken once.
    ///
    /// - Throws: `TransferError` for a job that can't be done, or whose identity stands for other content already;
    ///   `StagingError` for unknown needs.
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

    /// A job that is in the queue already, whichever process submitted it.
    ///
    /// - Parameter identity: The `id` it was given, else its destination.
    /// - Returns: `nil` when the batch has no such job.
    /// - Throws: `TransferError` when the database fails.
    public func job(_ identity: String, batch: String) async throws -> JobHandle? {
        let handle = JobHandle(batch: batch, identity: identity, queue: self)
        guard let queueReader else { return handle }
        return try await reader.run { try queueReader.facts(batch: batch, job: identity) == nil ? nil : handle }
    }

    /// Takes the jobs of a whole batch in, all or none, and holds the batch for this process.
    ///
    /// - Parameters:
    ///   - name: The batch's identity.
    ///   - source: The real path of the job file.
    ///   - directory: What relative paths start from.
    ///   - keepsWhatIsMissing: Jobs that `body` doesn't add stay in the batch; else they are dropped from it.
    ///   - isReload: The batch's run goes on: unchanged jobs stay as they are, also those that failed, were cancelled or
    ///     are held; otherwise these begin anew.
    ///   - onFinish: Who is told when all jobs of the batch have ended.
    ///   - body: Calls its argument for each job, with the job's place in its file; returns whether all went well. It's
    ///     called at once, and again where a job that was changed is under way: that is interrupted, and begins anew as
    ///     what it is now.
    /// - Throws: `StagingError`, or `TransferError` when the database fails.
    public func stage(
        name: String, source: String?, directory: String, keepsWhatIsMissing: Bool = false, isReload: Bool = false,
        onFinish: BatchHook? = nil,
        _ body: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    ) async throws -> StagedBatch {
        try await stage(
            JobReading(directory: directory, body), name: name, source: source, keepsWhatIsMissing: keepsWhatIsMissing,
            isReload: isReload, onFinish: onFinish)
    }

    /// Takes the jobs of a whole batch in, of which some may have been read already.
    ///
    /// - Parameters:
    ///   - jobs: Those of the batch.
    ///   - name: The batch's identity.
    ///   - source: The real path of the job file.
    ///   - keepsWhatIsMissing: Jobs that aren't among `jobs` stay in the batch; else they are dropped from it.
    ///   - isReload: The batch's run goes on, as where a closure brings the jobs.
    ///   - onFinish: Who is told when all jobs of the batch have ended.
    ///   - recalling: Called, once, where other processes have jobs under way that were changed or are missing: with their
    ///     count. The other processes release them first, within seconds, or once the lease of one that is gone has ended.
    /// - Throws: `StagingError`; `TransferError` when the database fails, and where jobs that were changed stay under way for
    ///   five minutes: nothing is taken then, and the jobs go on as they were.
    public func stage(
        _ jobs: JobReading, name: String, source: String?, keepsWhatIsMissing: Bool = false, isReload: Bool = false,
        onFinish: BatchHook? = nil, revoking: @Sendable (_ jobs: Int) -> Void = { _ in }
    ) async throws -> StagedBatch {
        try await stage(
            jobs, BatchHeader(name: name, source: source, directory: jobs.directory, onFinish: .set(onFinish)),
            StagingOptions(keepsWhatIsMissing: keepsWhatIsMissing, isReload: isReload), revoking)
    }

    /// Takes the jobs of a whole batch in, all or none, and holds the batch for this process.
    ///
    /// - Parameters:
    ///   - header: The batch apart from its jobs.
    ///   - options: How they are taken. A submission that has a key is remembered with them.
    ///   - body: Calls its argument for each job, as that of a batch that comes from a file.
    /// - Throws: `StagingError`; `SubmissionKeyTaken`; `TransferError` when the database fails.
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
    /// - Returns: Whether that came in time.
    private func areReleased(_ jobs: Set<Int64>, by deadline: MonotonicTime) async throws -> Bool {
        while try await revoke(jobs) > 0 {
            guard MonotonicTime.now < deadline else { return false }
            // This sleep has no event to wait for: neither a release by the owner nor the end of its lease is told to a
            // process that only brings jobs.
            try await Task.sleep(for: .milliseconds(200))
        }
        return true
    }

    /// Leaves a batch to whoever works on the queue.
    package func leave(_ batch: StagedBatch) async throws {
        let (store, id) = (store, batch.staged.batch.id)
        _ = try await reader.run {
            do { return try store.release(batch: id, isComplete: false) } catch { throw store.fault(error) }
        }
    }

    // MARK: Many callers at once

    /// Puts what several callers submitted into a batch, and returns when it's durable there: one wait for the disk for all.
    ///
    /// - Parameters:
    ///   - groups: The jobs of each caller; those of one are taken all or not at all, and remembered by their key. They were
    ///     checked (``JobRule``).
    ///   - batch: Made if need be.
    ///   - directory: What the batch's relative paths start from.
    ///   - startsPaused: New ones wait until somebody resumes them.
    /// - Throws: `StagingError` for unknown needs and destinations that two jobs have, `SubmissionKeyTaken` for a key that
    ///   another process took; nothing of any group is taken then.
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

    /// The answer to the submission of that key, for a day after it was taken.
    package func answered(key name: String) async throws -> AnsweredSubmission? {
        try await reader.run { [store] in
            do { return try store.answered(key: name) } catch { throw store.fault(error) }
        }
    }

    /// Changes a job that hasn't ended, where the change makes no other job of it: its priority, or bounds of its own. One
    /// that is under way goes on under another priority, or another bound on its rate; for its first bound it's
    /// interrupted.
    ///
    /// - Throws: `TransferError` where there is no such job any more, or it has ended.
    package func amend(
        _ number: Int64, batch: String, job: String, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws {
        guard try await amend([number: job], batch: batch, change) > 0 else {
            throw TransferError(.invalidRequest, "the job \"\(job)\" has ended")
        }
    }

    /// Changes jobs as ``amend(_:batch:job:_:)`` does; those that have ended stay as they are.
    ///
    /// - Parameter jobs: Their identities, by their numbers.
    /// - Returns: How many were changed.
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
        // The jobs were held back for the change alone, and go on now.
        for number in given { try await ask(.retry, batch: batch, job: jobs[number]) }
        return changed.count + given.count
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

    /// What is given back may be taken again before it's changed, but not for ever.
    private static let stagingRounds = 10
    /// A worker that is gone has its jobs until its lease ends.
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
