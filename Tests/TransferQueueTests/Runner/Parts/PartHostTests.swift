import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

/// A part with asynchronous work runs on any host: it needs only the functions that its protocol names.
@Suite struct PartHostTests {
    /// A runner that has one job and notes the part's requests.
    private actor Host: CredentialHost {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        let credentials = CredentialProviders()
        private let job: RunningJob
        private var asked: [String] = []

        init(_ spec: JobSpec) throws {
            loop = try EventLoop(name: "host")
            let record = JobRecord(id: 7, batch: 1, identity: "a", spec: .init(wrappedValue: spec), claimed: 0)
            let lane = Lane(batch: 1, origin: "http://h.example:80")
            job = RunningJob(
                candidate: Scheduler.Candidate(id: 7, lane: lane, priority: 0), record: record, started: .seconds(0),
                url: "http://h.example/0")
        }

        func ask(_ provider: CredentialProvider?) -> Bool {
            if let provider { credentials.register("key", provider) }
            return credentials.ask(for: job, on: self)
        }

        /// Returns the noted requests once there are some.
        func news() async -> [String] {
            while asked.isEmpty { await Task.yield() }
            return asked + [job.credentials?["key"] ?? "none"]
        }

        func underWay(_ id: Int64) -> RunningJob? { id == 7 ? job : nil }

        func transfer(_ id: Int64) { asked.append("transfer \(id)") }

        func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool) {
            asked.append("failed \(error.code)")
        }

        func withStore<Value: Sendable>(
            _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
            then: @escaping @Sendable (isolated Host, Value) -> Void
        ) {
            asked.append("store")
        }

        func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?, route: JobRoute?) {
            asked.append("event")
        }

        func measure(_ measurement: @autoclosure () -> Measurement) { asked.append("measure") }

        func pump() {}

        func timer(_ which: RunTimer) -> LoopTimer { loop.makeTimer {} }
    }

    private func host() throws -> Host {
        var spec = Sample.download("http://h.example/0", to: "/tmp/f")
        spec.settings.headers = [JobSettings.HeaderSetting(name: "X-Key", value: .credential("key"))]
        return try Host(spec)
    }

    @Test func aJobContinuesWithItsCredential() async throws {
        let host = try host()
        defer { host.loop.stop() }
        #expect(await host.ask(nil) == false, "nobody gives it")
        #expect(await host.ask { "\($0.host) secret" })
        let news = try await within { await host.news() }
        #expect(news == ["transfer 7", "h.example secret"])
    }

    @Test func aCredentialThatCannotBeHadIsAFailure() async throws {
        let host = try host()
        defer { host.loop.stop() }
        #expect(await host.ask { _ in throw TransferError(.cannotConnect, "no") })
        let news = try await within { await host.news() }
        #expect(news == ["failed secretMissing", "none"])
    }
}
