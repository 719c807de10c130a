import Synchronization
public import TransferJobs
import TransferStore

/// The progress of a job (``JobHandle/progress``).
public struct JobProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = JobProgress
    let job: JobHandle

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(job) }

    public struct Iterator: AsyncIteratorProtocol {
        private let job: JobHandle
        private let feed: LatestValue<JobProgress>

        fileprivate init(_ job: JobHandle) {
            self.job = job
            feed = LatestValue(job.queue) { [job] event in
                if case .progress(job.identity, let progress) = event.kind, event.batch == job.batch {
                    return .value(progress)
                }
                return job.isEnd(event) ? .last(JobProgress(end: event)) : .nothing
            }
        }

        /// - Returns: `nil` after the job's end.
        /// - Throws: `TransferError` when the database fails, and `CancellationError`.
        public mutating func next() async throws -> JobProgress? {
            try await feed.next { [job] in
                guard let end = try await job.queue.end(of: job) else { return .nothing }
                return .last(JobProgress(end: end))
            }
        }
    }
}

/// The progress of a batch (``JobQueue/progress(ofBatch:)``).
public struct BatchProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = BatchProgress
    let queue: JobQueue
    let batch: String

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(queue, batch) }

    public struct Iterator: AsyncIteratorProtocol {
        private let queue: JobQueue
        private let batch: String
        private let feed: LatestValue<BatchProgress>

        fileprivate init(_ queue: JobQueue, _ batch: String) {
            self.queue = queue
            self.batch = batch
            feed = LatestValue(queue) { event in
                guard event.batch == batch else { return .nothing }
                switch event.kind {
                case .batchStarted(let totals): return .value(BatchProgress(totals))
                case .batchProgress(let progress): return .value(progress)
                case .batchFinished(let totals, _): return .last(BatchProgress(totals))
                default: return .nothing
                }
            }
        }

        /// - Returns: `nil` after the batch's end.
        /// - Throws: `TransferError` when the database fails, and `CancellationError`.
        public mutating func next() async throws -> BatchProgress? {
            try await feed.next { [queue, batch] in
                // Its own run tells by events, so that nothing has to be counted.
                if await queue.runner.runs(batch) { return .nothing }
                guard let status = try await queue.status(ofBatch: batch) else { return .last(nil) }
                let progress = BatchProgress(status)
                return status.remaining == 0 ? .last(progress) : .value(progress)
            }
        }
    }
}

/// What a feed learns.
enum News<Value: Sendable>: Sendable {
    case nothing
    case value(Value)
    /// Nothing comes after it.
    case last(Value?)
}

/// The newest of what a queue tells of one thing: a slow reader gets the last of several.
final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isOver = false
        /// Whether the database may know something that no event tells; so it is at the beginning.
        var mayBeElsewhere = true
    }

    private enum Step {
        case value(Value)
        case over, look, wait
    }

    private let state = Mutex(State())
    private let signal = WakeSignal()
    private let hub: EventHub
    private let numbers = Mutex<[Int]>([])

    /// - Parameter news: What an event of the queue says of it.
    init(_ queue: JobQueue, news: @escaping @Sendable (QueueEvent) -> News<Value>) {
        hub = queue.hub
        queue.watchStore()
        let observer = hub.add { [weak self] event in self?.take(news(event)) }
        let doubt = hub.addSignal { [weak self] in self?.doubt() }
        numbers.withLock { $0 = [observer, doubt] }
    }

    deinit {
        for number in numbers.withLock({ $0 }) { hub.remove(number) }
    }

    /// - Parameter look: Asks the database.
    func next(_ look: () async throws -> News<Value>) async throws -> Value? {
        while true {
            try Task.checkCancellation()
            let rung = signal.count
            switch step() {
            case .value(let value): return value
            case .over: return nil
            case .look: take(try await look())
            case .wait: await signal.wait(after: rung)
            }
        }
    }

    private func step() -> Step {
        state.withLock { state in
            if let value = state.value.take() { return .value(value) }
            if state.isOver { return .over }
            guard state.mayBeElsewhere else { return .wait }
            state.mayBeElsewhere = false
            return .look
        }
    }

    private func take(_ news: News<Value>) {
        let isNew = state.withLock { state in
            guard !state.isOver else { return false }
            switch news {
            case .nothing: return false
            case .value(let value): state.value = value
            case .last(let value):
                // The end says more than what came before it.
                state.value = value ?? state.value
                state.isOver = true
            }
            return true
        }
        if isNew { signal.ring() }
    }

    private func doubt() {
        state.withLock { $0.mayBeElsewhere = true }
        signal.ring()
    }
}

extension JobProgress {
    /// - Returns: `nil` for a job that isn't complete: what was told of it last stays true.
    fileprivate init?(end: QueueEvent) {
        switch end.kind {
        case .finished(let receipt), .kept(let receipt):
            self.init(completed: receipt.bytes, total: receipt.bytes, rate: Int64(receipt.rate), phase: .saving)
            sources = receipt.sources
        default: return nil
        }
    }
}

extension BatchProgress {
    fileprivate init(_ totals: BatchTotals) {
        self.init()
        self.totals = totals
    }

    /// As another process has it: what was complete before and what its run completed are one number.
    fileprivate init(_ status: BatchStatus) {
        self.init()
        totals.jobs = status.total
        totals.completed = status.done
        totals.failed = status.failed
        totals.skipped = status.skipped
        totals.cancelled = status.cancelled
        waiting = status.waiting
        rate = status.rate
        eta = status.eta
    }
}
