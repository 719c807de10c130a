import TransferCore
public import TransferJobs
import TransferStore

/// A job in the queue: it's waited for, followed and steered by this.
public struct JobHandle: Sendable {
    /// The name of its batch.
    public let batch: String
    /// Its name in the batch: the `id` it was given, else its destination.
    public let identity: String
    let queue: JobQueue

    // MARK: How it goes

    /// Waits for the job's end. Cancelling this task doesn't cancel the job.
    ///
    /// It makes no difference which process runs the queue. Without `unattended` it waits for ever where none does.
    ///
    /// ```swift
    /// let receipt = try await job.receipt(unattended: .seconds(30))
    /// ```
    ///
    /// - Parameter limit: For how long nobody may run the job's batch before this fails; `nil` for ever. A process
    ///   that has the batch counts as one that runs it, until it ends. It's found out within twice the time.
    /// - Throws: The job's `TransferError` when it failed, was skipped or cancelled; one with the code `unattended` when
    ///   nobody ran the queue for that time (the job stays in the queue); and `CancellationError`.
    public func receipt(unattended limit: Duration? = nil) async throws -> JobReceipt {
        guard let limit else { return try Self.receipt(try await end()) }
        return try await withThrowingTaskGroup(of: QueueEvent.self) { group in
            group.addTask { try await end() }
            group.addTask { throw try await queue.connectionNotice(of: batch, for: limit) }
            defer { group.cancelAll() }
            guard let end = try await group.next() else { throw CancellationError() }
            return try Self.receipt(end)
        }
    }

    /// How the job goes on: always the newest, however slow the reader is, and the end when the job has ended, in
    /// whichever way. ``receipt(unattended:)`` says in which.
    ///
    /// ```swift
    /// for try await progress in job.progress {
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    ///
    /// The numbers come from the queue that runs the job, every ``QueueConfiguration/progressInterval``; of a job that
    /// another process runs there is only the last. The last element of a job that is complete has all of its bytes.
    public var progress: JobProgressUpdates { JobProgressUpdates(job: self) }

    // MARK: Steering

    /// Cancels the job, whichever process runs it. What a server holds of an upload is given up, and what was fetched
    /// stays in its partial file. A job that has ended stays as it is.
    ///
    /// Returns when this is written down; the process that runs the job is told at once.
    ///
    /// - Throws: `TransferError` when there is no such job any more, or the database fails.
    public func cancel() async throws { try await queue.ask(.cancel, batch: batch, job: identity) }

    /// Stops the job, with what it has, until ``resume()``.
    ///
    /// - Throws: As ``cancel()``.
    public func pause() async throws { try await queue.ask(.pause, batch: batch, job: identity) }

    /// Lets a job that was paused go on.
    ///
    /// - Throws: As ``cancel()``.
    public func resume() async throws { try await queue.ask(.resume, batch: batch, job: identity) }

    /// Begins a job anew that failed, was skipped or cancelled, or that waits for its next attempt.
    ///
    /// - Throws: As ``cancel()``.
    public func retry() async throws { try await queue.ask(.retry, batch: batch, job: identity) }

    // MARK: Its end

    private func end() async throws -> QueueEvent {
        let cursor = try await queue.lastCursor()
        if let end = try await queue.end(of: self) { return end }
        for try await event in queue.events(after: cursor) where isEnd(event) { return event }
        throw CancellationError()
    }

    /// Whether the job ended by it.
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
        case .skipped(_, let need): throw TransferError(.cancelled, "skipped: it needs \(need), which didn't complete")
        case .dropped: throw TransferError(.cancelled, "the file is gone, or is another version")
        default: throw TransferError(.cancelled, "the job was cancelled")
        }
    }
}
