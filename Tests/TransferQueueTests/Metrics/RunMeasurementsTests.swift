import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

/// The measurements of a run that no event carries.
@Suite(.timeLimit(.minutes(1))) struct RunMeasurementsTests {
    private let folder: TemporaryFolder
    private let content = Content.random(seed: 1, count: 400_000)

    init() throws { folder = try TemporaryFolder("measures") }

    private func table(of queue: JobQueue) -> AwaitedState<MetricTable> {
        let table = AwaitedState(MetricTable())
        queue.measure { changes in table.change { $0.apply(changes) } }
        return table
    }

    @Test func aWaitingRunReportsItsState() async throws {
        try await withTestServer { server in
            try await withTestServer { busy in
                server.serve("/x", content, etag: "\"1\"")
                server.script("/x", [.stall(after: 200_000)])
                busy.serve("/y", content)
                busy.script("/y", [.status(503, headers: ["Retry-After": "3000"])])
                try await withQueue(folder) { queue in
                    let table = table(of: queue)
                    let begun = Double(WallClock.milliseconds) / 1000
                    var settings = JobSettings()
                    settings.retry.maxWait = .seconds(86_400)
                    let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                    let held = try await queue.submit(
                        .download(busy.url("/y"), to: folder.path("y"), settings: settings), batch: "c")
                    let run = Task { try await queue.run() }
                    await table.wait { table in
                        table[.connections] == 1 && table[.hostsPaused] == 1 && table[.oldestQueued] != nil
                            && table[.bytes, "download", "127.0.0.1:\(server.port)"] == 200_000
                    }
                    let oldest = try #require(table.state[.oldestQueued])
                    #expect(oldest >= begun - 0.01 && oldest <= Double(WallClock.milliseconds) / 1000)
                    #expect(table.state[.storeSize] ?? 0 > 0 && table.state.count(.storeCommit) > 0)
                    #expect(table.state[.jobs, "active", "download"] == 1 && table.state[.leasesLost] == 0)

                    server.release()
                    _ = try await within { try await job.receipt() }
                    await table.wait { $0[.connections] == 0 }
                    let state = table.state
                    #expect(state[.linkBytes, "lo", "download"] == 400_000)
                    // Each transfer counts once.
                    #expect(state.count(.firstByte) == 2 && state[.throttled, "127.0.0.1:\(busy.port)"] == 1)
                    #expect(state[.hostsPaused] == 1)

                    try await held.cancel()
                    await table.wait { $0[.oldestQueued] == nil }
                    run.cancel()
                    try await run.value
                }
            }
        }
    }

    /// The first observed time stays the time of the oldest job, also for the next process.
    @Test func theOldestJobKeepsItsTimeOverRuns() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", [], afterwards: .holdHead)
            var seen: [Double] = []
            for _ in 0..<2 {
                try await withQueue(folder) { queue in
                    let table = table(of: queue)
                    try await queue.submit(.download(server.url("/x"), to: folder.path("x"), id: "x"), batch: "b")
                    let run = Task { try await queue.run() }
                    await table.wait { $0[.oldestQueued] != nil && $0[.connections] == 1 }
                    seen.append(table.state[.oldestQueued] ?? 0)
                    run.cancel()
                    try await run.value
                }
            }
            #expect(seen.count == 2 && seen[0] == seen[1])
        }
    }

    @Test(.ofAFolder) func aLeaseThatIsLostIsCounted() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", [.holdHead])
            try await withQueue(folder) { queue in
                let table = table(of: queue)
                try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                await table.wait { $0[.connections] == 1 }
                try await server.waitForHeld(1)
                // The statement does the same as a process that takes over from this one.
                try RawDatabase(path: "\(folder.path("state"))/queue.sqlite").run("DELETE FROM process")
                server.release()
                await #expect(throws: (any Error).self) { try await within { try await run.valueOrEnd() } }
                #expect(table.state[.leasesLost] ?? 0 >= 1)
            }
        }
    }

    @Test func jobsBeforeTheFirstOpenOneAreReadOnce() throws {
        let fixture = try StoreFixture()
        let batch = try fixture.stage((0..<4).map { Sample.download("http://h.example/\($0)", to: "\($0)") }).batch.id
        let query = CountQuery(database: fixture.store.database)
        #expect(try query.census(of: [batch], from: 0, now: 1000).oldest == 1000)
        let records = try fixture.claimAll(batch).sorted { $0.id < $1.id }
        for record in records.prefix(2) { try fixture.succeed(record) }
        try fixture.stage([Sample.download("http://h.example/z", to: "z")], name: "c")
        let census = try query.census(of: [batch], from: 0, now: 2000)
        #expect(census.oldest == 1000 && census.firstOpen == records[2].id && census.bytes > 0)
        for record in records.suffix(2) { try fixture.succeed(record) }
        #expect(try query.census(of: [batch], from: census.firstOpen, now: 3000).oldest == nil)
        #expect(try query.census(of: [batch, batch + 1], from: 0, now: 3000).oldest == 2000)
    }
}

extension MetricTable {
    fileprivate subscript(_ metric: QueueMetric, _ labels: String...) -> Double? {
        guard case .number(let value)? = value(metric, labels) else { return nil }
        return value
    }

    fileprivate func count(_ metric: QueueMetric, _ labels: String...) -> Int {
        guard case .histogram(let histogram)? = value(metric, labels) else { return 0 }
        return histogram.count
    }

    private func value(_ metric: QueueMetric, _ labels: [String]) -> MetricFamily.Value? {
        families.first { $0.name == metric.rawValue }?.series.first { $0.labels == labels }?.value
    }
}
