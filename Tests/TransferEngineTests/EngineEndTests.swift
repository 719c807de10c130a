import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The state of exchanges, threads and loops after their engine has ended.
@Suite(.timeLimit(.minutes(1))) struct EngineEndTests {
    private static let served = ServedFile(ControlTests.content, etag: "\"a\"")

    @Test(arguments: [1, 3])
    func shutDownEndsEverythingOnce(_ loops: Int) async throws {
        try await Bench.with(loops: loops) { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.serve("/y", Self.served)
            bench.server.script("/x", [], afterwards: .stall(after: 1000))
            bench.server.script("/y", [], afterwards: .holdHead)
            let attempts = try (0..<20).map {
                try bench.start($0 % 2 == 0 ? "/x" : "/y", to: bench.folder.path("\($0)"))
            }
            try await bench.server.waitForHeld(10)
            bench.engine.shutDown()
            bench.engine.shutDown()
            for attempt in attempts {
                #expect(await attempt.log.outcome.error?.code == .cancelled)
                #expect(attempt.log.ends == 1)
            }
        }
    }

    @Test func anEngineThatIsDroppedEndsWhatItCarried() async throws {
        try await withTestServer { server in
            server.serve("/x", Self.served)
            server.script("/x", [], afterwards: .stall(after: 1000))
            let log = ExchangeLog()
            func begin() async throws {
                let engine = try ExchangeEngine(loops: 1)
                engine.start(
                    ExchangeRequest(url: server.url("/x")), makeSink: { AnswerSink(limit: 1) }, events: log.receive)
                await log.untilResponded()
            }
            try await begin()
            #expect(await log.outcome.error?.code == .cancelled)
            #expect(log.ends == 1)
            try await server.waitForConnections(closed: 1)
        }
    }

    @Test func aBorrowedLoopOutlivesTheEngine() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in")
            let loop = try EventLoop(name: "shared")
            defer { loop.stop() }
            for _ in 0..<2 {
                let engine = try ExchangeEngine(loops: 1, sharing: loop)
                let log = ExchangeLog()
                var request = ExchangeRequest(url: server.url("/in"), method: "PUT", body: .bytes([1, 2, 3]))
                request.settings.joinsSmallBodies = true
                engine.start(
                    request, makeSink: { AnswerSink(limit: 1) },
                    events: { event in
                        #expect(loop.isOnLoop)
                        log.receive(event)
                    })
                #expect(await log.outcome.error == nil)
                engine.shutDown()
            }
            #expect(sink.uploads.map(\.bytes) == [[1, 2, 3], [1, 2, 3]])
            await withCheckedContinuation { done in #expect(loop.execute { done.resume() }) }
        }
    }

    @Test(arguments: [true, false]) func nothingIsSentAfterTheEnd(_ isShared: Bool) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in")
            let loop = try EventLoop(name: "shared")
            defer { loop.stop() }
            let engine = try ExchangeEngine(loops: 1, sharing: isShared ? loop : nil)
            engine.shutDown()
            let log = ExchangeLog()
            var request = ExchangeRequest(url: server.url("/in"), method: "PUT", body: .bytes([1, 2, 3]))
            request.settings.joinsSmallBodies = true
            engine.start(request, makeSink: { AnswerSink(limit: 1) }, events: log.receive)
            #expect(await log.outcome.error?.code == .cancelled)
            #expect(log.ends == 1 && server.requests.isEmpty)
        }
    }

    @Test func enginesLeaveNothingBehind() async throws {
        try await withTestServer { server in
            server.serve("/x", Self.served)
            weak var pool: CurlPool?
            func use() async throws {
                let engine = try ExchangeEngine(loops: 1)
                let log = ExchangeLog()
                let handle = engine.start(
                    ExchangeRequest(url: server.url("/x")), makeSink: { AnswerSink(limit: 1) }, events: log.receive)
                #expect(await log.outcome.error == nil)
                pool = (Mirror(reflecting: engine).descendant("loops", 0) as? PoolSet)?.all.first
                try #require(pool != nil)
                engine.shutDown()
                withExtendedLifetime(handle) {}
            }
            try await use()
            await eventually({ pool == nil }, "the pool of an engine that was shut down is still there")
            // The idle connection of the engine is closed with it.
            try await server.waitForConnections(closed: 1)
        }
    }
}
