import Logging
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

/// Opens the queue of a folder, and closes it in the end.
func withQueue<Result>(
    _ folder: TemporaryFolder, limits: BatchLimits = BatchLimits(), state: String = "state",
    configure: (inout QueueConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation, _ body: (JobQueue) async throws -> Result
) async throws -> Result {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var configuration = QueueConfiguration(state: folder.path(state), limits: limits, logger: logger)
    configuration.loops = 2
    configuration.progressInterval = .milliseconds(50)
    configure(&configuration)
    let queue =
        if let store = try await SharedStores.store(of: configuration.state) {
            try JobQueue(configuration, store: store, history: nil)
        } else {
            try await JobQueue.open(configuration)
        }
    return try await closing(queue, body)
}

/// Opens a queue that is stored only in memory, and closes it in the end.
func withPlainQueue<Result>(
    _ store: any JobStore & RunMemory = MemoryStore(), accepting accept: JobJudge? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (JobQueue) async throws -> Result
) async throws -> Result {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var configuration = QueueConfiguration(state: "/nowhere", logger: logger)
    configuration.progressInterval = .milliseconds(50)
    return try await closing(try JobQueue(configuration, store: store, history: nil, accept: accept), body)
}

private func closing<Result>(
    _ queue: JobQueue, isolation: isolated (any Actor)? = #isolation, _ body: (JobQueue) async throws -> Result
) async throws -> Result {
    do {
        let result = try await body(queue)
        await queue.close()
        return result
    } catch {
        await queue.close()
        throw error
    }
}

struct DidNotEnd: Error {
    let after: Duration
}

/// Runs `body`; a test that waits in vain fails after `limit` instead of hanging.
func within<Result: Sendable>(
    _ limit: Duration = .seconds(20), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask(operation: body)
        group.addTask {
            // A limit is a time, and only the time shows that it is over.
            try await Task.sleep(for: limit)
            throw DidNotEnd(after: limit)
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw DidNotEnd(after: limit) }
        return first
    }
}

extension Task where Failure == any Error {
    /// Waits for the task; cancelling the waiting task cancels this task too.
    func valueOrEnd() async throws -> Success {
        try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            cancel()
        }
    }
}

extension JobQueue {
    func stage(_ jobs: [JobSpec], name: String = "b", directory: String = "/") async throws -> StagedBatch {
        try await stage(name: name, source: nil, directory: directory) { add in
            for job in jobs { try add(job, nil) }
            return true
        }
    }

    /// Stages a batch and runs it to its end.
    ///
    /// - Throws: ``DidNotEnd`` when it takes longer; the run is stopped then.
    @discardableResult
    func complete(
        _ jobs: [JobSpec], name: String = "b", directory: String = "/", limit: Duration = .seconds(20)
    ) async throws -> BatchTotals {
        let staged = try await stage(jobs, name: name, directory: directory)
        let summary = try await within(limit) { try await self.run([staged]) }
        return summary.totals[name] ?? BatchTotals()
    }
}

/// A record of every event of a queue.
final class EventLog: Sendable {
    private struct State {
        var events: [QueueEvent] = []
        var last = 0
        var waiters:
            [(
                number: Int, matches: @Sendable (QueueEvent) -> Bool, resume: CheckedContinuation<Void, Never>
            )] = []
    }

    private let state = Mutex(State())

    init(_ queue: JobQueue) { queue.observe { [self] in add($0) } }

    private func add(_ event: QueueEvent) {
        let woken = state.withLock { state in
            state.events.append(event)
            let woken = state.waiters.filter { $0.matches(event) }
            state.waiters.removeAll { $0.matches(event) }
            return woken.map(\.resume)
        }
        for waiter in woken { waiter.resume() }
    }

    var events: [QueueEvent] { state.withLock { $0.events } }

    /// Returns when such an event has occurred, or when the task is cancelled.
    private func arrival(of matches: @escaping @Sendable (QueueEvent) -> Bool) async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if Task.isCancelled || state.events.contains(where: matches) { return true }
                    state.waiters.append((number, matches, continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.resume.resume()
        }
    }

    /// Returns when such an event has occurred.
    ///
    /// - Throws: ``DidNotEnd`` when it takes longer than `limit`.
    func wait(_ limit: Duration = .seconds(10), for matches: @escaping @Sendable (QueueEvent) -> Bool) async throws {
        try await within(limit) { [self] in await arrival(of: matches) }
    }

    /// Returns when a job has this number of bytes. The server's count of sent bytes does not show that they arrived.
    func wait(forBytes count: Int64) async throws {
        try await wait { event in
            guard case .progress(_, let progress) = event.kind else { return false }
            return progress.completed >= count
        }
    }

    /// The ends of each job, in order; `done`, `kept`, `failed CODE`, `skipped NEED` or `cancelled`.
    var ends: [String: [String]] {
        var ends: [String: [String]] = [:]
        for event in events {
            guard let (job, end) = event.end else { continue }
            ends[job, default: []].append(end)
        }
        return ends
    }
}

extension QueueRunner {
    /// Reports files as a folder's uploader does when it has taken them.
    func took(_ uploader: FolderUploader, batch: HeldBatch, _ changes: HistoryChanges) {
        folders.took(uploader, batch: batch, changes, on: self)
    }

    /// The number of unfinished jobs, by batch.
    var left: [Int64: Int] { Dictionary(uniqueKeysWithValues: batches.all.map { ($0.id, $0.remaining) }) }
    var totals: [Int64: BatchTotals] { Dictionary(uniqueKeysWithValues: batches.all.map { ($0.id, $0.totals) }) }
}

extension JobQueue {
    /// Returns the store of a queue in a folder.
    func sqlite() throws -> SQLiteStore { try #require(store as? SQLiteStore) }
}
