import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

/// The events of one exchange and its outcome. The end resumes all tasks that wait for it.
final class ExchangeLog: Sendable {
    private struct State {
        var restarts: [String] = []
        var starts: [BodyStart] = []
        var interim: [ResponseHead] = []
        var refusals: [CongestionUse] = []
        var outcome: ExchangeOutcome?
        var ends = 0
        var waiting: [CheckedContinuation<ExchangeOutcome, Never>] = []
        var waitingForStart: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func receive(_ event: ExchangeEvent) {
        let (ended, started) = state.withLock {
            state -> ([CheckedContinuation<ExchangeOutcome, Never>], [CheckedContinuation<Void, Never>]) in
            switch event {
            case .restarted(let reason): state.restarts.append(reason)
            case .interim(let head): state.interim.append(head)
            case .congestionRefused(let use): state.refusals.append(use)
            case .redirected, .challenged, .netrcUsed: break
            case .responded(let start): state.starts.append(start)
            case .ended(let outcome):
                state.ends += 1
                state.outcome = outcome
            }
            let waiting = state.outcome == nil ? [] : exchange(&state.waiting, with: [])
            return (waiting, exchange(&state.waitingForStart, with: []))
        }
        if case .ended(let outcome) = event { for continuation in ended { continuation.resume(returning: outcome) } }
        for continuation in started { continuation.resume() }
    }

    var restarts: [String] { state.withLock { $0.restarts } }
    var starts: [BodyStart] { state.withLock { $0.starts } }
    var interim: [ResponseHead] { state.withLock { $0.interim } }
    var refusals: [CongestionUse] { state.withLock { $0.refusals } }
    var ends: Int { state.withLock { $0.ends } }

    /// The outcome of the exchange, once it has ended.
    var outcome: ExchangeOutcome {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> ExchangeOutcome? in
                    if state.outcome == nil { state.waiting.append(continuation) }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    /// Waits until the body of an answer has begun, or until the end.
    func untilResponded() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state -> Bool in
                if !state.starts.isEmpty || state.outcome != nil { return true }
                state.waitingForStart.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension ExchangeOutcome {
    var error: TransferError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    var head: ResponseHead? { try? result.get() }

    /// The point at which the next attempt resumes, as the queue reads it from the record.
    var resumePoint: ResumePoint? {
        resumeData.map { ResumePoint(offset: position, validator: $0.validator, total: $0.total) }
    }
}

/// Waits for a state that no event announces, and yields to other tasks meanwhile. A wait in vain fails its test.
func eventually(
    _ isTrue: () -> Bool, _ comment: Comment = "it never came", sourceLocation: SourceLocation = #_sourceLocation
) async {
    for _ in 0..<200_000 {
        if isTrue() { return }
        await Task.yield()
    }
    // On an idle machine a yield takes almost no time, so the end of the wait is a point in time.
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
        if isTrue() { return }
        await Task.yield()
    }
    Issue.record(comment, sourceLocation: sourceLocation)
}

/// An engine, a server and a folder, which are removed at the end.
struct Bench {
    let engine: ExchangeEngine
    let server: TestServer
    let folder: TemporaryFolder

    static func with(loops: Int = 1, _ body: (Bench) async throws -> Void) async throws {
        try await withTestServer { server in
            // One worker: its jobs run in order, so a job has ended once a later job has (`Attempt.end()`).
            let engine = try ExchangeEngine(loops: loops, workers: 1)
            defer { engine.shutDown() }
            try await body(Bench(engine: engine, server: server, folder: try TemporaryFolder("engine")))
        }
    }

    /// One attempt that is under way.
    struct Attempt {
        let handle: ExchangeHandle
        let log: ExchangeLog
        let meter: ExchangeMeter
        let part: PartFile?
        let engine: ExchangeEngine

        /// Returns the outcome, once all work of the workers for this attempt is done and the file is free.
        func end() async throws -> ExchangeOutcome {
            let outcome = await log.outcome
            // Some jobs enqueue a further job.
            for _ in 0..<4 { try await engine.workers.run {} }
            part?.unlock()
            return outcome
        }
    }

    var file: String { folder.path("x.part") }

    /// Writes the partial file that an earlier attempt left.
    func leavePart(_ bytes: [UInt8]) throws {
        let part = try PartFile.open(file)
        try part.truncate(to: 0)
        #expect(pwrite(part.descriptor, bytes, bytes.count, 0) == bytes.count)
    }

    func start(
        _ path: String = "/x", to file: String? = nil, resume: ResumePoint? = nil, headers: [HeaderField] = [],
        limiters: [RateLimiter] = [],
        synced: Int64 = 0, _ change: (inout ExchangeSettings) -> Void = { _ in }
    ) throws -> Attempt {
        var settings = ExchangeSettings()
        change(&settings)
        let url = path.hasPrefix("/") ? server.url(path) : path
        let request = ExchangeRequest(url: url, headers: headers, intent: .representation(resume), settings: settings)
        let part = try PartFile.open(file ?? self.file)
        let (log, meter, workers) = (ExchangeLog(), ExchangeMeter(), engine.workers)
        let handle = engine.start(
            request, meter: meter, limiters: limiters,
            makeSink: {
                FileSink(
                    part, offset: resume?.offset ?? 0, url: url, algorithm: .sha256, workers: workers,
                    state: FileSinkState(synced: synced))
            }, events: log.receive)
        return Attempt(handle: handle, log: log, meter: meter, part: part, engine: engine)
    }

    func download(
        _ path: String = "/x", resume: ResumePoint? = nil, headers: [HeaderField] = [],
        _ change: (inout ExchangeSettings) -> Void = { _ in }
    ) async throws -> (outcome: ExchangeOutcome, log: ExchangeLog) {
        let attempt = try start(path, resume: resume, headers: headers, change)
        let outcome = try await attempt.end()
        #expect(attempt.log.ends == 1)
        return (outcome, attempt.log)
    }

    /// Starts a request whose answer is kept in memory.
    func send(
        _ method: String, _ path: String, body: RequestBody = .none, headers: [HeaderField] = [],
        limiters: [RateLimiter] = [],
        _ change: (inout ExchangeSettings) -> Void = { _ in }
    ) -> Attempt {
        var settings = ExchangeSettings()
        change(&settings)
        let url = path.hasPrefix("/") ? server.url(path) : path
        let request = ExchangeRequest(url: url, method: method, headers: headers, body: body, settings: settings)
        let (log, meter) = (ExchangeLog(), ExchangeMeter())
        let handle = engine.start(
            request, meter: meter, limiters: limiters, makeSink: { AnswerSink(limit: 4096) }, events: log.receive)
        return Attempt(handle: handle, log: log, meter: meter, part: nil, engine: engine)
    }
}
