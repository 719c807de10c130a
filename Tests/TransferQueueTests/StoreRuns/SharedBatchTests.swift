import FoundationEssentials
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore
@testable import TransferStorePostgres

/// Workers of a fleet: they claim jobs of the same batches, and each job once.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct SharedBatchTests {
    let folder: TemporaryFolder
    let address: PostgresAddress

    init() async throws {
        folder = try TemporaryFolder("fleet")
        let queue = UUID().uuidString.lowercased().replacing("-", with: "")
        address = try PostgresAddress(await PostgresServer.shared.url(queue: queue))
    }

    private func worker() throws -> PostgresStore { try PostgresStore(address, .worker(PostgresWorker())) }

    private func jobs(_ count: Int, _ server: TestServer) -> [JobSpec] {
        (0..<count).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)"), id: "\($0)") }
    }

    /// Stages a batch and leaves it to the workers.
    private func stage(_ jobs: [JobSpec]) throws -> Int64 {
        let store = try PostgresStore(address)
        let batch = try store.stage(jobs).batch.id
        _ = try store.release(batch: batch, isComplete: false)
        try store.retire()
        return batch
    }

    // MARK: The store

    @Test func aBatchIsSharedByWorkersAndHeldAloneOnlyWithoutThem() async throws {
        let staging = try PostgresStore(address)
        let batch = try staging.stage([Sample.download("http://h.example/", to: "x")]).batch.id
        let (one, other) = (try worker(), try worker())
        #expect(try one.hold(.unfinished).isEmpty, "it is being staged")
        _ = try staging.release(batch: batch, isComplete: false)
        #expect(try one.hold(.unfinished).map(\.id) == [batch] && other.hold(.named("b")).map(\.id) == [batch])
        #expect(try one.claimAll(batch).count == 1)
        #expect(try other.claimAll(batch).isEmpty)
        #expect(try other.forget(name: "b", endedBefore: nil).isEmpty, "a worker has a job of it")
    }

    @Test func aCommandReachesTheWorkersThatHaveJobsOfTheBatch() async throws {
        let batch = try stage((0..<3).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") })
        let (one, other) = (try worker(), try worker())
        _ = try (one.hold(.unfinished), other.hold(.unfinished))
        #expect(try one.claimAll(batch, limit: 1).count == 1)
        guard case .handed = try other.deliver(.cancel, batch: "b", job: nil) else {
            Issue.record("nobody was told")
            return
        }
        #expect(try one.counts(batch) == [.claimed: 1, .cancelled: 2])
        #expect(try one.takeCommands().map(\.verb) == [.cancel])
        #expect(try other.takeCommands().isEmpty)
        #expect(try other.deliver(.retry, batch: "b", job: "1") == .applied(jobs: 1), "nobody has that one")
    }

    // MARK: Runs

    @Test func twoWorkersEndOneBatchAndEachJobIsDoneOnce() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            // Each worker has one slot, and waits at its first job: neither can take all jobs before the other one
            // begins.
            for first in [0, ClaimsAhead.shared(concurrency: 32).page] { server.script("/\(first)", [.holdHead]) }
            let batch = try stage(jobs(120, server))
            try await withPlainQueue(worker()) { one in
                try await withPlainQueue(worker()) { other in
                    one.setLimits(BatchLimits(concurrency: 1))
                    other.setLimits(BatchLimits(concurrency: 1))
                    let logs = [EventLog(one), EventLog(other)]
                    let runs = [one, other].map { queue in Task { try await queue.run() } }
                    try await server.waitForHeld(2)
                    server.release()
                    for log in logs {
                        try await log.wait(.seconds(30)) { if case .batchFinished = $0.kind { true } else { false } }
                    }
                    for run in runs { run.cancel() }
                    for run in runs { try await run.value }
                    let ended = logs.map { log in
                        log.events.compactMap { if case .finished(let receipt) = $0.kind { receipt.job } else { nil } }
                    }
                    #expect(ended.allSatisfy { !$0.isEmpty }, "both had some: \(ended.map(\.count))")
                    #expect(Set(ended[0] + ended[1]).count == 120 && ended[0].count + ended[1].count == 120)
                }
            }
            #expect(try PostgresStore(address).counts(batch) == [.done: 120])
            #expect(Set(server.requests.map(\.path)).count == 120 && server.requests.count == 120)
            #expect(try folder.text("out/119") == "/119")
        }
    }

    /// The job of the lost worker is done by a second one, and the lost worker cannot record its own work.
    @Test func theJobsOfALostWorkerAreEndedByTheOthers() async throws {
        try await withTestServer { server in
            try folder.write("up", to: "up")
            let (sink, url) = (server.acceptUploads("/in/up"), server.url("/in/up"))
            server.script("/in/up", [.holdHead])
            let batch = try stage([Sample.upload(folder.path("up"), to: url, id: "up")])
            let lost = try worker()
            try await withPlainQueue(lost) { first in
                let stuck = Task { try await first.run() }
                try await server.waitForHeld(1)
                let other = try worker()
                try lost.endLease(by: other.database)
                try await withPlainQueue(other) { second in
                    let log = EventLog(second)
                    let run = Task { try await second.run() }
                    try await log.wait(.seconds(30)) { if case .batchFinished = $0.kind { true } else { false } }
                    run.cancel()
                    try await run.value
                }
                stuck.cancel()
                let error = await #expect(throws: TransferError.self) {
                    try await within { try await stuck.valueOrEnd() }
                }
                #expect(error?.code == .fileLocked && error?.message.contains("taken for dead") == true)
            }
            let reader = try PostgresStore(address)
            #expect(try reader.counts(batch) == [.done: 1])
            #expect(try reader.ends(after: 0, limit: 9).count == 1)
            #expect(sink.uploads.allSatisfy { $0.count == 2 })
        }
    }
}
