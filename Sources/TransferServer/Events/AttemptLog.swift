import Synchronization
import TransferQueue

/// The attempts of jobs, collected from the events of this process. The queue's record has only their number and the
/// last error.
final class AttemptLog: Sendable {
    struct Attempt: Sendable {
        enum Result: String, Sendable {
            case running, retried, waited, done, kept, failed, cancelled
        }

        var number: Int?
        /// The start in milliseconds since 1970, like all times here.
        var started: Int64?
        var ended: Int64?
        var result = Result.running
        /// The URL that was requested, without secrets.
        var url: String?
        /// The offset in bytes from which the attempt continued.
        var offset: Int64?
        /// The number of the file's bytes that existed at the end of the attempt.
        var bytes: Int64?
        var error: TransferError?
        /// The reason for the wait, in words.
        var reason: String?
        /// The delay from the end of this attempt to the next one.
        var delay: Duration?
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private struct History {
        var attempts: [Attempt] = []
        /// The time of the job's last event, as a count of all events.
        var turn = 0
    }

    private struct State {
        var jobs: [Key: History] = [:]
        var turn = 0
    }

    /// The maximum number of jobs kept: active ones, and those with more than one attempt.
    static let mostJobs = 2_000
    static let mostAttempts = 50

    private let state = Mutex(State())

    /// Returns the recorded attempts, in their order.
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

    /// Ends a job's history. For a job that was done at once, the queue's record is sufficient.
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
    /// Creates the last attempt of a job that ended before this process observed it.
    ///
    /// - Returns: `nil` for an end without an attempt.
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
