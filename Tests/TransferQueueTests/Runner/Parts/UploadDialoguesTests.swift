import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

/// The driver of uploads of several requests, without a server and a store.
@Suite struct UploadDialoguesTests {
    /// A dialogue that wants certain actions.
    private struct Script: UploadDialogue {
        let actions: [UploadAction]

        mutating func begin(now: Int64) -> [UploadAction] { actions }
        mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] { [] }
        mutating func abandon(now: Int64) -> [UploadAction] { [] }
    }

    /// A runner that has one job. It notes the requests of the dialogues, and its store never answers.
    private actor Host: UploadHost {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        let dialogues: UploadDialogues
        private let job: RunningJob
        private var asked: [String] = []

        init(_ spec: JobSpec, _ engine: any ExchangePerformer) throws {
            loop = try EventLoop(name: "host")
            dialogues = UploadDialogues(engine: engine)
            let record = JobRecord(id: 7, batch: 1, identity: "a", spec: .init(wrappedValue: spec), claimed: 0)
            job = RunningJob(
                candidate: Scheduler.Candidate(
                    id: 7, lane: Lane(batch: 1, origin: "http://h.example:80"), priority: 0),
                record: record, started: .seconds(0), url: "http://h.example/a")
        }

        /// Performs a dialogue's actions.
        ///
        /// - Parameter state: The state that an earlier attempt stored.
        /// - Returns: The requests, and the record that the job leaves.
        func perform(_ actions: [UploadAction], after state: UploadState?, _ file: SourceFile) -> (
            asked: [String], left: UploadChange
        ) {
            let record = state.map { UploadRecord(file, state: $0, confirmed: 0) }
            job.record.upload = record
            dialogues.begin(Script(actions: actions), of: job, .file(file), record, on: self)
            return (asked, job.sending.left)
        }

        /// Takes the version back that this attempt has marked.
        ///
        /// - Parameter hasLeft: Whether bytes of the version have been sent.
        func takeBack(hasLeft: Bool) -> (asked: [String], left: UploadChange, next: UploadRecord?) {
            job.record.upload = .versionOnly
            (job.sending.hasMarkedVersion, job.sending.hasLeft) = (true, hasLeft)
            dialogues.takeBackVersion(job)
            return (asked, job.sending.left, job.record.upload)
        }

        func underWay(_ id: Int64) -> RunningJob? { id == 7 ? job : nil }
        func builder(of job: RunningJob) -> RequestBuilder {
            RequestBuilder(userAgent: "t", proxies: .none, secrets: SecretSource())
        }
        func limiters(of job: RunningJob) -> [RateLimiter] { [] }
        func serverAnswered(_ job: RunningJob) {}
        func judgeLink(_ job: RunningJob, _ outcome: ExchangeOutcome) {}
        func refusedElsewhere(
            _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome
        ) -> TransferError { error }
        func abandon(_ upload: AbandonedUpload) { asked.append("abandon") }
        func settleSource(
            _ job: RunningJob, _ source: UploadBytes, then: @escaping @Sendable (isolated Host, Bool) -> Void
        ) { asked.append("settle") }
        func cameFurther(_ job: RunningJob, from start: Int64, to position: Int64) -> Bool { false }
        func count(_ job: RunningJob, moved bytes: Int64) {}
        func uploaded(_ job: RunningJob, _ source: UploadBytes, _ result: TransferResult, _ digest: Checksum?) {
            asked.append("uploaded")
        }
        func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool) {
            asked.append("failed \(error.code)")
        }
        func leave(_ job: RunningJob, for stop: RunningJob.Stop) { asked.append("leave") }
        var jobs: Dictionary<Int64, RunningJob>.Values { [7: job].values }
        func spareConnections(to origin: String) -> Int { 0 }
        func connectionOpened(to origin: String) {}
        func connectionClosed(to origin: String) {}

        func withStore<Value: Sendable>(
            _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
            then: @escaping @Sendable (isolated Host, Value) -> Void
        ) { asked.append("store") }
        func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?, route: JobRoute?) {}
        func measure(_ measurement: @autoclosure () -> Measurement) {}
        func pump() {}
        func timer(_ which: RunTimer) -> LoopTimer { loop.makeTimer {} }
    }

    private static func state(_ payload: String) -> UploadState {
        UploadState(kind: "script", canAsk: true, payload: payload)
    }

    private static let failure = UploadAction.fail(TransferError(.mayHaveBeenSent, "it may have arrived"))
    private static let request = UploadAction.send(UploadRequest(id: 1, method: "HEAD", url: "http://h.example/a"))

    /// The actions of a dialogue; whether an earlier attempt stored the state `old`; the expected requests, and the
    /// record that the job leaves.
    struct Row: Sendable {
        let actions: [UploadAction]
        let isAgain: Bool
        let asked: [String]
        let left: String
    }

    static let rows = [
        // The state that says that the failure was reported is stored with the failure.
        Row(
            actions: [.save(state("told")), failure], isAgain: true, asked: ["failed mayHaveBeenSent"], left: "told"),
        Row(
            actions: [.stop(request: 3), .save(state("a")), .confirmed(2), .save(state("b")), failure], isAgain: false,
            asked: ["failed mayHaveBeenSent"], left: "b"),
        Row(actions: [.forget, failure], isAgain: true, asked: ["failed mayHaveBeenSent"], left: "removed"),
        Row(actions: [failure], isAgain: true, asked: ["failed mayHaveBeenSent"], left: "as stored"),
        Row(actions: [failure], isAgain: false, asked: ["failed mayHaveBeenSent"], left: "as stored"),
        // A state that a request relies on is durable before the request leaves.
        Row(actions: [.save(state("a")), request, failure], isAgain: false, asked: ["store"], left: "as stored"),
        Row(actions: [.save(state("a"))], isAgain: false, asked: ["store"], left: "as stored"),
        Row(
            actions: [.save(state("a")), .digest(id: 1, .sha256, 0..<1), failure], isAgain: false, asked: ["store"],
            left: "as stored"),
    ]

    /// Calls `body` with a host of an upload of this file.
    private func withHost<Result>(_ path: String, _ body: (Host) async throws -> Result) async throws -> Result {
        var upload = JobSpec.Upload(source: path, url: "http://h.example/a", uploadProtocol: .tus)
        upload.options.ifChanged = .restart
        let engine = try ExchangeEngine(loops: 1)
        defer { engine.shutDown() }
        let host = try Host(JobSpec(id: "a", work: .upload(upload), settings: Sample.quick), engine)
        defer { host.loop.stop() }
        return try await body(host)
    }

    @Test(arguments: [false, true]) func aVersionThatWasNotSentIsTakenBackWithTheJob(_ hasLeft: Bool) async throws {
        let result = try await withHost("/nowhere/a") { await $0.takeBack(hasLeft: hasLeft) }
        #expect(result.asked == [])
        #expect(result.left == (hasLeft ? .none : .removed))
        #expect(result.next == (hasLeft ? .versionOnly : nil))
    }

    @Test(arguments: rows) func theStateOfAFailureLeavesWithTheJob(_ row: Row) async throws {
        let folder = try TemporaryFolder("dialogues")
        try folder.write(count: 9, seed: 1, to: "a")
        let file = try SourceFile(folder.path("a"))
        let result = try await withHost(file.path) {
            await $0.perform(row.actions, after: row.isAgain ? Self.state("old") : nil, file)
        }
        #expect(result.asked == row.asked)
        let left =
            switch result.left {
            case .none: "as stored"
            case .removed: "removed"
            case .replaced(let record): record.state?.payload ?? "a version"
            }
        #expect(left == row.left)
    }
}
