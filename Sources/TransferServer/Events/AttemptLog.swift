import Synchronization
import TransferQueue

/// Attempts of jobs, as the events of this process tell of them. The queue's record has the count and the last error alone.
final class AttemptLog: Sendable {
    struct Attempt: Sendable {
        enum Result: String, Sendable {
            case running, retried, waited, done, kept, failed, cancelled
        }

        var number: Int?
        /// Milliseconds since 1970, as all times here.
        var started: Int64?
        var ended: Int64?
        var result = Result.running
        /// The URL that was asked; redacted.
        var url: String?
        /// The byte that it went on from.
        var offset: Int64?
        /// Bytes of the file that were there when it ended.
        var bytes: Int64?
        var error: TransferError?
        /// Words for what it waits for.
        var reason: String?
        /// From its end to the next attempt.
        var delay: Duration?
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private struct History {
        var attempts: [Attempt] = []
        /// When something was heard of the job last, as a count of all events.
        var turn = 0
    }

    private struct State {
        var jobs: [Key: History] = [:]
        var turn = 0
    }

    /// Jobs that are remembered: a running one, and one that had more than one attempt.
    static let mostJobs = 2_000
    static let mostAttempts = 50

    private let state = Mutex(State())

    /// The attempts that are remembered, in their order.
    func attempts(of job: String, batch: String) -> [Attempt] {
        state.withLock { $0.jobs[Key(batch: batch, job: job)]?.attempts ?? [] }
    }

    func hear(_ event: QueueEvent) {
        switch event.kind {
        case .started(let job, let start): begin(job, event, start)
        case .progress(let job, let progress):
            change(job, event) { $0.bytes = progress.completed }
        case .retrying(let job, let delay, let error):
            end(job, event, .retried) { ($0.error, $0.delay) = (error, delay) }
        case .waiting(let job, let reason): end(job, event, .waited) { $0.reason = Self.words(reason) }
        case .finished(let receipt): settle(receipt.job, event, .done) { $0.bytes = receipt.bytes }
        case .kept(let receipt): settle(receipt.job, event, .kept) { $0.bytes = receipt.bytes }
        case .failed(let failure): end(failure.job, event, .failed) { $0.error = failure.error }
        case .cancelled(let job): end(job, event, .cancelled) { _ in }
        case .dropped(let job): state.withLock { $0.jobs[Key(batch: event.batch, job: job)] = nil }
        default: break
        }
    }

    private func begin(_ job: String, _ event: QueueEvent, _ start: JobStart) {
        state.withLock { state in
            if state.jobs.count >= Self.mostJobs { Self.forgetHalf(&state.jobs) }
            state.turn += 1
            let key = Key(batch: event.batch, job: job)
            var history = state.jobs[key] ?? History()
            history.turn = state.turn
            if history.attempts.count >= Self.mostAttempts { history.attempts.removeFirst() }
            history.attempts.append(
                Attempt(
                    number: start.attempt, started: event.time, url: start.url, offset: start.offset,
                    bytes: start.offset))
            state.jobs[key] = history
        }
    }

    private func change(_ job: String, _ event: QueueEvent, _ change: (inout Attempt) -> Void) {
        state.withLock { state in
            let key = Key(batch: event.batch, job: job)
            guard let last = state.jobs[key]?.attempts.indices.last,
                state.jobs[key]?.attempts[last].result == .running
            else { return }
            state.turn += 1
            state.jobs[key]?.turn = state.turn
            if var attempt = state.jobs[key]?.attempts[last] {
                change(&attempt)
                state.jobs[key]?.attempts[last] = attempt
            }
        }
    }

    private func end(
        _ job: String, _ event: QueueEvent, _ result: Attempt.Result, _ change: (inout Attempt) -> Void
    ) {
        self.change(job, event) { attempt in
            (attempt.result, attempt.ended) = (result, event.time)
            change(&attempt)
        }
    }

    /// Of a job that was done at once the queue's record has all that there is to say.
    private func settle(
        _ job: String, _ event: QueueEvent, _ result: Attempt.Result, _ change: (inout Attempt) -> Void
    ) {
        end(job, event, result, change)
        state.withLock { state in
            let key = Key(batch: event.batch, job: job)
            if state.jobs[key]?.attempts.count == 1 { state.jobs[key] = nil }
        }
    }

    private static func forgetHalf(_ jobs: inout [Key: History]) {
        let turns = jobs.values.map(\.turn).sorted()
        let middle = turns[turns.count / 2]
        jobs = jobs.filter { $0.value.turn >= middle }
    }

    private static func words(_ reason: WaitReason) -> String {
        switch reason {
        case .host(_, _, let message, _, _): message
        case .retry: "another attempt"
        case .dependency(let need): "waits for \(need)"
        case .slot: "waits for its turn"
        case .paused: "paused"
        case .disk(let text, _, _), .schedule(let text), .clock(let text), .openFiles(let text), .network(let text):
            text
        }
    }
}

extension AttemptLog.Attempt {
    /// The last attempt of a job that ended before this process heard of it.
    ///
    /// - Returns: `nil` where there was none.
    init?(_ end: QueueEvent) {
        self.init()
        ended = end.time
        switch end.kind {
        case .finished(let receipt), .kept(let receipt):
            result = .done
            number = receipt.attempts
            bytes = receipt.bytes
            url = receipt.finalURL
            if receipt.seconds.isFinite { started = end.time - Int64(min(max(0, receipt.seconds), 1e12) * 1000) }
        case .failed(let failure):
            result = .failed
            number = failure.attempts
            url = failure.finalURL
            error = failure.error
        default: return nil
        }
    }
}
