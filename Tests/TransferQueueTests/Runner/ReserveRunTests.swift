import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

/// Runs of batches whose first jobs are never read from the store.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct ReserveRunTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("reserve") }

    private func withJobs(
        _ count: Int, reserving: Int, _ body: (TestServer, JobQueue, StagedBatch) async throws -> Void
    ) async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            try await withQueue(folder) { queue in
                let header = BatchHeader(name: "b", source: nil, directory: "/")
                let staged = try queue.store.stage(header, StagingOptions(claiming: reserving)) { stager in
                    for number in 0..<count {
                        try stager.add(
                            Sample.download(server.url("/\(number)"), to: folder.path("out/\(number)")), at: nil)
                    }
                    return true
                }
                try await body(server, queue, StagedBatch(staged: staged))
            }
        }
    }

    private func counts(_ queue: JobQueue) throws -> [JobState: Int] { try queue.store.tally(batch: 1).counts }

    /// The largest batches exceed a page of the scheduler, and the capacity of the reserve.
    @Test(arguments: [16, 304, 700, 1000]) func everyJobRunsOnce(_ reserving: Int) async throws {
        try await withJobs(700, reserving: reserving) { server, queue, staged in
            let log = EventLog(queue)
            let summary = try await within { try await queue.run([staged]) }
            #expect(summary.totals["b"]?.completed == 700 && summary.left == 0)
            #expect(log.ends.count == 700 && log.ends.values.allSatisfy { $0 == ["done"] })
            #expect(server.requests.count == 700)
            #expect(try counts(queue) == [.done: 700])
            let database = RawDatabase(path: try StateFolder(folder.path("state")).database)
            #expect(try database.run("SELECT count(*) FROM opened") == [["0"]])
        }
    }

    @Test func returnedJobsGoBeforeUntriedJobs() async throws {
        try await withJobs(1000, reserving: 1000) { server, queue, staged in
            server.script("/0", [.status(503)])
            let summary = try await within { try await queue.run([staged]) }
            #expect(summary.totals["b"]?.completed == 1000)
            let paths = server.requests.map(\.path)
            #expect(paths.count == 1001 && paths.filter { $0 == "/0" }.count == 2)
            #expect(try #require(paths.lastIndex(of: "/0")) < 800)
        }
    }

    /// The configuration is that of a machine with few cores.
    @Test func theQueueAndItsTransfersCanShareOneThread() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            try folder.write("small", to: "small")
            try folder.write(count: 1_000_000, seed: 1, to: "large")
            let sinks = ["small", "large"].map { server.acceptUploads("/in/\($0)") }
            let configure: (inout QueueConfiguration) -> Void = { ($0.loops, $0.cores) = (0, 2) }
            try await withQueue(folder, configure: configure) { queue in
                let downloads = (0..<300).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)")) }
                let uploads = ["small", "large"].map {
                    Sample.upload(folder.path($0), to: server.url("/in/\($0)"), id: $0)
                }
                let totals = try await queue.complete(downloads + uploads)
                #expect(totals.completed == 302)
            }
            #expect(try folder.text("out/123") == "/123")
            #expect(sinks.map { $0.uploads.map(\.count) } == [[5], [1_000_000]])
        }
    }

    @Test func commandsFromBeforeTheRunArePerformed() async throws {
        try await withJobs(300, reserving: 1000) { server, queue, staged in
            let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
            let log = EventLog(queue)
            _ = try queue.store.apply(QueueCommand(id: 1, verb: .cancel, batch: 1, job: nil))
            let summary = try await within { try await queue.run([staged]) }
            #expect(summary.left == 0 && server.requests.isEmpty)
            #expect(try counts(queue) == [.cancelled: 300])
            #expect(try remote.statuses().map(\.cancelled) == [300])
            #expect(log.ends.isEmpty, "told when it was done")
        }
    }

    @Test func aStoppedRunReturnsUnstartedJobs() async throws {
        try await withJobs(600, reserving: 1000) { server, queue, staged in
            let run = Task { try await queue.run([staged]) }
            try await server.waitForRequests(1)
            queue.stop()
            let summary = try await within { try await run.value }
            let counts = try counts(queue)
            #expect(summary.left == counts[.queued] ?? 0)
            #expect(counts.keys.allSatisfy { [.queued, .done].contains($0) } && counts.values.reduce(0, +) == 600)
        }
    }

    /// There are as many lanes as jobs: all are claimed before the first one is reported as new.
    @Test func aBatchWhoseReserveWasTakenBackIsCountedAnew() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try await withQueue(folder) { queue in
                let jobs = (0..<200).map { number -> JobSpec in
                    var job = Sample.download(server.url("/\(number)"), to: folder.path("out/\(number)"))
                    job.settings.network.prefer = [.name("link\(number)")]
                    return job
                }
                let staged = try await queue.stage(jobs)
                let extra = Sample.download(server.url("/extra"), to: folder.path("out/extra"))
                _ = try queue.store.submit(extra, batch: "b", directory: "/")
                let summary = try await within { try await queue.run([staged]) }
                #expect(summary.totals["b"]?.completed == 201 && summary.left == 0)
                #expect(server.requests.count == 201)
            }
        }
    }

    @Test func jobsOfAStoppedRunAreNotStartedByTheNext() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            server.script("/0", [.holdHead])
            try await withQueue(folder, limits: BatchLimits(concurrency: 1)) { queue in
                let jobs = (0..<600).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)")) }
                let staged = try await queue.stage(jobs)
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                queue.stop()
                let summary = try await within { try await run.valueOrEnd() }
                #expect(summary.left == 600)
                let isIdle = await queue.runner.admission.scheduler.isIdle
                #expect(isIdle)
                let other = Sample.download(server.url("/other"), to: folder.path("other"))
                let completed = try await queue.complete([other], name: "c").completed
                #expect(completed == 1)
                #expect(try counts(queue) == [.queued: 600])
                #expect(server.requests.map(\.path) == ["/0", "/other"])
            }
        }
    }

    @Test func jobsSubmittedDuringTheRunAreRun() async throws {
        try await withJobs(600, reserving: 1000) { server, queue, staged in
            let extra = Sample.download(server.url("/extra"), to: folder.path("out/extra"))
            let first = Task { try await queue.run([staged]) }
            let handle = try await queue.submit(extra, batch: "b")
            _ = try await within { try await handle.receipt() }
            _ = try await within { try await first.value }
            #expect(try counts(queue) == [.done: 601])
            #expect(server.requests.count == 601)
        }
    }
}
