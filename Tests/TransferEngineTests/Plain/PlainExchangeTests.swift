import Dispatch
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@testable import TransferEventLoop

/// Small uploads over connections of our own: nobody can tell them from libcurl's but by their cost.
@Suite(.timeLimit(.minutes(1))) struct PlainExchangeTests {
    private func ours(_ settings: inout ExchangeSettings) { settings.joinsSmallBodies = true }

    /// Hops' metrics are libcurl's alone: who wants them goes through it. Else the same in every way.
    private func libcurls(_ settings: inout ExchangeSettings) {
        settings.joinsSmallBodies = true
        settings.collectsHopMetrics = true
    }

    /// By this the two ways are told apart: libcurl says with the answer only what has left.
    @Test func whatHasLeftIsKnownBeforeTheAnswer() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            for (change, sent) in [(libcurls, Int64(0)), (ours, 3)] {
                bench.server.script("/in", [.holdHead])
                let attempt = bench.send("PUT", "/in", body: .bytes([1, 2, 3]), change)
                try await bench.server.waitForHeld(1)
                // Another's end: by then the loop has done what follows a write.
                _ = try await bench.send("PUT", "/other", body: .bytes([0]), change).end()
                #expect(attempt.meter.sent == sent)
                bench.server.release()
                #expect(try await attempt.end().head?.status == 201)
            }
        }
    }

    /// What whoever asked sees of an exchange.
    struct Seen: Equatable {
        var code: TransferError.Code?
        var isTransient: Bool?
        var status: Int?
        var answer: String
        var sent: Int64
        var interim: [Int]
        var url: String

        init(_ outcome: ExchangeOutcome, _ log: ExchangeLog) {
            code = outcome.error?.code
            isTransient = outcome.error?.isTransient
            status = outcome.head?.status
            answer = String(decoding: outcome.answer, as: UTF8.self)
            sent = outcome.sent
            interim = log.interim.map(\.status)
            url = outcome.finalURL
        }
    }

    struct Behaviour: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: Fault
        init(_ description: String, _ fault: Fault) { (testDescription, self.fault) = (description, fault) }
    }

    static let behaviours = [
        Behaviour("as it should be", .none),
        Behaviour("no content", .status(204)),
        Behaviour("refused, with reasons", .status(403, body: .text("because"))),
        Behaviour("broken", .status(500, body: .text("why"))),
        Behaviour("closes afterwards", .closeAfterwards),
        Behaviour("says that it closes", .header("Connection", "close")),
        Behaviour("no length", .status(200, body: .text("until the end")).and(.noContentLength)),
        Behaviour("chunks", .status(200, body: .text("bit by bit")).and(.chunked(size: 3))),
        Behaviour("early hints", .interim(103, count: 2)),
        Behaviour("garbage", .garbage()),
        Behaviour("many fields", .oversizedHeaders(40 << 10)),
        Behaviour("a body that ends early", .status(200, body: .text("short")).and(.contentLength(off: 5))),
        Behaviour("closes without an answer", .closeBeforeHead),
        Behaviour("resets without an answer", .resetBeforeHead),
        Behaviour("resets in the body", .status(200, body: .text("a longer body")).and(.reset(after: 3))),
        Behaviour("the answer is lost", .loseAnswer),
        Behaviour("too large, said early", .answerEarly(413, body: .text("too large"))),
        Behaviour("elsewhere, with the body", .redirect(to: "/other", status: 307)),
        Behaviour("elsewhere, without the body", .redirect(to: "/other", status: 303)),
        Behaviour("nowhere", .redirect(to: "file:///etc/passwd", status: 307)),
    ]

    @Test(arguments: behaviours) func endsAsLibcurlsDo(_ behaviour: Behaviour) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.acceptUploads("/other")
            func seen(_ change: (inout ExchangeSettings) -> Void) async throws -> [Seen] {
                bench.server.script("/in", [behaviour.fault])
                var all: [Seen] = []
                // What follows it has nothing of it.
                for body in ["first", "second one"] {
                    let attempt = bench.send("PUT", "/in", body: .bytes(Array(body.utf8)), change)
                    let outcome = try await attempt.end()
                    #expect(attempt.log.ends == 1 && attempt.meter.sent == outcome.sent)
                    all.append(Seen(outcome, attempt.log))
                }
                return all
            }
            let expected = try await seen(libcurls)
            let requests = bench.server.requests.count
            let seen = try await seen(ours)
            #expect(seen == expected)
            #expect(bench.server.requests.count == 2 * requests)
        }
    }

    /// The loop sleeps while it knows of many.
    @Test func whateverTheEndTheLoopAwaitsNoAnswerAnyMore() async throws {
        try await withTestServer { server in
            server.acceptUploads("/in")
            server.acceptUploads("/other")
            let loop = try EventLoop(name: "shared")
            defer { loop.stop() }
            let engine = try ExchangeEngine(loops: 1, sharing: loop)
            let bench = Bench(engine: engine, server: server, folder: try TemporaryFolder("engine"))
            func awaited() async -> Int {
                await withCheckedContinuation { answer in
                    loop.execute { answer.resume(returning: loop.awaitedAnswers) }
                }
            }
            for behaviour in Self.behaviours {
                server.script("/in", [behaviour.fault])
                for body in [[UInt8](repeating: 1, count: 9), [2]] {
                    _ = try await bench.send("PUT", "/in", body: .bytes(body), ours).end()
                }
                #expect(await awaited() == 0, "\(behaviour.testDescription)")
            }
            let before = server.requests.count
            server.script("/in", [.holdHead, .holdHead])
            let attempts = (0..<2).map { _ in bench.send("PUT", "/in", body: .bytes([1]), ours) }
            try await server.waitForRequests(before + 2)
            #expect(await awaited() == 2)
            attempts[0].handle.cancel()
            #expect(await attempts[0].log.outcome.error?.code == .cancelled)
            engine.shutDown()
            _ = await attempts[1].log.outcome
            #expect(await awaited() == 0)
        }
    }

    @Test(arguments: ["PUT", "POST"]) func theServerSeesTheSameRequest(_ method: String) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let headers = [
                HeaderField("User-Agent", "test/1"), HeaderField("Content-Type", "text/plain"),
                HeaderField("X-Empty", ""),
                HeaderField("Authorization", "Bearer token"),
            ]
            for path in ["/in", "/in?a=b&c=%20d", "/in?~(.!*'$)"] {
                for change in [libcurls, ours] {
                    _ = try await bench.send(method, path, body: .bytes([1, 2, 3]), headers: headers, change).end()
                }
            }
            let heads = bench.server.requests.map(\.head)
            for pair in stride(from: 0, to: heads.count, by: 2) {
                #expect(heads[pair].method == heads[pair + 1].method && heads[pair].target == heads[pair + 1].target)
                let fields = heads[pair...(pair + 1)].map { head in
                    head.headers.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
                }
                #expect(fields[0] == fields[1])
            }
            #expect(heads.count == 6)
        }
    }

    @Test func oneConnectionCarriesManyRequests() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            for number in 0..<20 {
                let outcome = try await bench.send("PUT", "/in", body: .bytes([UInt8(number)]), ours).end()
                #expect(outcome.head?.status == 201 && outcome.metrics.connectionsMade == (number == 0 ? 1 : 0))
                #expect(outcome.metrics.remoteAddress == "127.0.0.1" && outcome.metrics.localAddress == "127.0.0.1")
                #expect(outcome.metrics.total >= outcome.metrics.firstByte && outcome.metrics.firstByte > 0)
            }
            #expect(bench.server.connectionCount == 1 && sink.uploads.map(\.bytes) == (0..<20).map { [UInt8($0)] })
        }
    }

    @Test func manyGoAtOnce() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            for _ in 0..<3 {
                let attempts = (0..<64).map { number in
                    bench.send("PUT", "/in?\(number)", body: .bytes(Array(repeating: UInt8(number), count: 4096)), ours)
                }
                for attempt in attempts { #expect(try await attempt.end().head?.status == 201) }
            }
            #expect(bench.server.connectionCount <= 64 && sink.uploads.count == 192)
            #expect(sink.uploads.allSatisfy { upload in upload.count == 4096 && Set(upload.bytes).count == 1 })
        }
    }

    @Test func whatIsCancelledEndsWithItsConnection() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead])
            let attempt = bench.send("PUT", "/in", body: .bytes([1]), ours)
            try await bench.server.waitForRequests(1)
            attempt.handle.cancel()
            #expect(try await attempt.end().error?.code == .cancelled)
            try await bench.server.waitForConnections(closed: 1)
            #expect(try await bench.send("PUT", "/in", body: .bytes([2]), ours).end().head?.status == 201)
        }
    }

    @Test func aSilentServerIsGivenUp() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead, .holdHead])
            let silent = try await bench.send("PUT", "/in", body: .bytes([1])) {
                $0.joinsSmallBodies = true
                $0.lowSpeedTime = .milliseconds(100)
            }.end()
            #expect(silent.error?.code == .timedOut && silent.error?.isTransient == true && silent.sent == 1)
            let late = try await bench.send("PUT", "/in", body: .bytes([1])) {
                $0.joinsSmallBodies = true
                $0.maxTime = .milliseconds(100)
            }.end()
            #expect(late.error?.code == .timedOut)
            try await bench.server.waitForConnections(closed: 2)
        }
    }

    /// The process was stopped, say: what came meanwhile counts, however long that was.
    @Test func whatHasComeIsReadBeforeItsSilenceIsJudged() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in")
            let loop = try EventLoop(name: "shared")
            defer { loop.stop() }
            let engine = try ExchangeEngine(loops: 1, sharing: loop)
            defer { engine.shutDown() }
            @Sendable func send(silence: Duration) -> ExchangeLog {
                var request = ExchangeRequest(url: server.url("/in"), method: "PUT", body: .bytes([1]))
                request.settings.joinsSmallBodies = true
                request.settings.lowSpeedTime = silence
                let log = ExchangeLog()
                engine.start(request, makeSink: { AnswerSink(limit: 1) }, events: log.receive)
                return log
            }
            // It leaves the connection over which the next request goes at once.
            #expect(await send(silence: .seconds(60)).outcome.head?.status == 201)
            server.script("/in", [.closeAfterwards])
            let goesOn = DispatchSemaphore(value: 0)
            // In one turn of the loop, as both are handed in on it.
            let log = await withCheckedContinuation { begun in
                loop.execute {
                    let log = send(silence: .nanoseconds(1))
                    loop.execute { goesOn.wait() }
                    begun.resume(returning: log)
                }
            }
            // All that it says is in the kernel.
            try await server.waitForConnections(closed: 1)
            goesOn.signal()
            let outcome = await log.outcome
            #expect(outcome.head?.status == 201, "\(outcome)")
            #expect(sink.uploads.count == 2 && server.connectionCount == 1)
        }
    }

    /// An answer that nobody reads waits in the kernel.
    @Test func whatIsSuspendedGoesOnWhenItIsToldTo() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead])
            let attempt = bench.send("PUT", "/in", body: .bytes([1]), ours)
            try await bench.server.waitForHeld(1)
            attempt.handle.suspend()
            attempt.handle.resume()
            attempt.handle.suspend()
            // Commands come in their order: once another exchange has ended, these have come.
            #expect(try await bench.send("PUT", "/other", body: .bytes([2]), ours).end().head?.status == 404)
            bench.server.release()
            try await bench.server.waitForAnswers(2)
            #expect(try await bench.send("PUT", "/other", body: .bytes([3]), ours).end().head?.status == 404)
            #expect(attempt.log.ends == 0)
            attempt.handle.resume()
            #expect(try await attempt.end().head?.status == 201)
        }
    }

    @Test func theEnginesEndClosesWhatWaits() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            _ = try await bench.send("PUT", "/in", body: .bytes([1]), ours).end()
            #expect(bench.server.openConnections == 1)
            bench.engine.shutDown()
            try await bench.server.waitForConnections(closed: 1)
        }
    }

    /// Connections of the network that was are used by nobody new.
    @Test func anotherNetworkGetsOtherConnections() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            _ = try await bench.send("PUT", "/in", body: .bytes([1]), ours).end()
            bench.engine.renewNetwork()
            try await bench.server.waitForConnections(closed: 1)
            let outcome = try await bench.send("PUT", "/in", body: .bytes([2]), ours).end()
            #expect(outcome.head?.status == 201 && bench.server.connectionCount == 2)
        }
    }

    /// The server sees each of them closed, in whichever way it ended.
    @Test func leavesNoConnectionOpen() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            for _ in 0..<50 {
                bench.server.script("/in", [.closeAfterwards, .garbage(), .closeBeforeHead, .status(500)])
                for _ in 0..<4 { _ = try await bench.send("PUT", "/in", body: .bytes([1]), ours).end() }
            }
            #expect(bench.server.connectionCount >= 150)
            try await bench.server.waitForConnections(closed: bench.server.connectionCount - 1)
            #expect(bench.server.openConnections <= 1)
        }
    }
}
