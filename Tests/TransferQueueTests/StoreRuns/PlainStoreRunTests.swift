import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// Runs of the queue on any ``JobStore``.
@Suite(.timeLimit(.minutes(1))) struct PlainStoreRunTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("plain") }

    @Test(arguments: StoreKind.allCases)
    func aBatchEndsAsItDoesOnADisk(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            server.script("/1", [.status(503)])
            server.script("/2", [.status(404)])
            let (sink, url) = (server.acceptUploads("/in/up"), server.url("/in/up"))
            try folder.write("up", to: "up")
            let jobs =
                (0..<60).map { number in
                    Sample.download(
                        server.url("/\(number)"), to: folder.path("out/\(number)"), id: "\(number)",
                        needs: number == 3 ? ["2"] : number == 4 ? ["5"] : [])
                } + [Sample.upload(folder.path("up"), to: url, id: "up")]
            try await withPlainQueue(bench.store) { queue in
                let log = EventLog(queue)
                let totals = try await queue.complete(jobs)
                #expect(totals.completed == 59 && totals.failed == 1 && totals.skipped == 1)
                #expect(log.ends.count == 61)
                // A complete file is kept in the second run.
                let again = try await queue.complete(jobs)
                #expect(again.kept == 59 && again.completed == 2, "what failed had another start")
            }
            #expect(sink.uploads.map(\.count) == [2])
            #expect(try folder.text("out/59") == "/59")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aStoppedRunContinues(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            server.script("/7", [.holdHead])
            let jobs = (0..<40).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)")) }
            try await withPlainQueue(bench.store) { queue in
                let staged = try await queue.stage(jobs)
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                queue.stop()
                let summary = try await within { try await run.valueOrEnd() }
                #expect(summary.left > 0)
            }
            try await withPlainQueue(bench.another()) { queue in
                let totals = try await queue.complete(jobs)
                #expect(totals.kept + totals.completed == 40)
            }
        }
    }

    /// The jobs of the other process continue; this process can no longer record its own work.
    @Test(arguments: StoreKind.allCases)
    func aProcessTakenForDeadReportsIt(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            server.script("/0", [.holdHead])
            try await withPlainQueue(bench.store) { queue in
                let staged = try await queue.stage([Sample.download(server.url("/0"), to: folder.path("out"))])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                try bench.lose(bench.store)
                _ = try bench.another()
                queue.stop()
                let error = await #expect(throws: (any Error).self) {
                    try await within { _ = try await run.valueOrEnd() }
                }
                // A store may report it with a message for people.
                #expect(error is LeaseLost || (error as? TransferError)?.code == .fileLocked)
            }
        }
    }

    @Test func aStoreThatKnowsNoFoldersRefusesToWatch() async throws {
        try await withPlainQueue { queue in
            let spec = WatchSpec(folder: folder.path(""), url: "http://h.example/")
            let error = await #expect(throws: TransferError.self) { _ = try await WatchedFolder.start(spec, on: queue) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
