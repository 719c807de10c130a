import TransferCore
public import TransferJobs
import TransferStore

/// A handle of a job in the queue, to wait for it, follow it and steer it.
public struct JobHandle: Sendable {
    /// The name of the job's batch.
    public let batch: String
    /// The job's name in the batch: the `id` that it was given, else its destination.
    public let identity: String
    let queue: JobQueue

    // MARK: Progress and result

    /// Waits for the job's end. Cancelling this task does not cancel the job.
    ///
    /// Any process may run the queue. Without `unattended`, this waits for ever if no process does.
    ///
    /// ```swift
    /// let receipt = try await job.receipt(unattended: .seconds(30))
    /// ```
    ///
    /// - Parameter limit: The time without a process that runs the job's batch after which this fails; `nil` waits for
    ///   ever. A process that holds the batch counts until it ends. The absence is detected within twice the time.
    /// - Throws: The job's `TransferError` if it failed, was skipped or cancelled. The code is `unattended` if no
    ///   process ran the queue for that time; the job then stays in the queue. `CancellationError` if the task is
    ///   cancelled.
    public func receipt(unattended limit: Duration? = nil) async throws -> JobReceipt {
        guard let limit else { return try Self.receipt(try await end()) }
        return try await withThrowingTaskGroup(of: QueueEvent.self) { group in
            group.addTask { try await end() }
            group.addTask { throw try await queue.unattended(batch, for: limit) }
            defer { group.cancelAll() }
            guard let end = try await group.next() else { throw CancellationError() }
            return try Self.receipt(end)
        }
    }

    /// The job's progress, always the newest however slow the reader is. The sequence ends when the job has ended in
    /// any way; ``receipt(unattended:)`` returns the outcome.
    ///
    /// ```swift
    /// for try await progress in job.progress {
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    ///
    /// The queue that runs the job reports every ``QueueConfiguration/progressInterval``. If another process runs the
    /// job, only the last element appears. The last element of a complete job has all of its bytes.
    public var progress: JobProgressUpdates { JobProgressUpdates(job: self) }

    // MARK: Steering

    /// Cancels the job, whichever process runs it. The part of an upload that a server holds is given up, and fetched
    /// bytes stay in the partial file. A job that has ended stays as it is.
    ///
    /// Returns when the command is recorded; the process that runs the job is notified at once.
    ///
    /// - Throws: `TransferError` if the job no longer exists or the database fails. A job that has ended is not an
    ///   error.
    public func cancel() async throws { try await queue.ask(.cancel, batch: batch, job: identity) }

    /// Stops the job until ``resume()``, and keeps its bytes.
    ///
    /// - Throws: `TransferError` as ``cancel()`` does.
    public func pause() async throws { try await queue.ask(.pause, batch: batch, job: identity) }

    /// Lets a paused job continue.
    ///
    /// - Throws: `TransferError` as ``cancel()`` does.
    public func resume() async throws { try await queue.ask(.resume, batch: batch, job: identity) }

    /// Restarts a job that failed, was skipped or cancelled, or that waits for its next attempt.
    ///
    /// - Throws: `TransferError` as ``cancel()`` does.
    public func retry() async throws { try await queue.ask(.retry, batch: batch, job: identity) }

    // MARK: The end

    private func end() async throws -> QueueEvent {
        let cursor = try await queue.lastCursor()
        if let end = try await queue.end(of: self) { return end }
        for try await event in queue.events(after: cursor) where isEnd(event) { return event }
        throw CancellationError()
    }

    /// Returns whether the event is the end of this job.
    func isEnd(_ event: QueueEvent) -> Bool {
        guard event.batch == batch else { return false }
        switch event.kind {
        case .finished(let receipt), .kept(let receipt): return receipt.job == identity
        case .failed(let failure): return failure.job == identity
        case .skipped(identity, _), .cancelled(identity), .dropped(identity): return true
        default: return false
        }
    }

    private static func receipt(_ event: QueueEvent) throws -> JobReceipt {
        switch event.kind {
        case .finished(let receipt), .kept(let receipt): return receipt
        case .failed(let failure): throw failure.error
        case .skipped(_, let need): throw TransferError(.cancelled, "skipped: it needs \(need), which did not complete")
        case .dropped: throw TransferError(.cancelled, "the file is gone, or is another version")
        default: throw TransferError(.cancelled, "the job was cancelled")
        }
    }
}
