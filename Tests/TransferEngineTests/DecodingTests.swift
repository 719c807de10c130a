import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@Suite(.timeLimit(.minutes(1))) struct DecodingTests {
    private static let accept = [HeaderField("Accept-Encoding", "gzip;q=1.0, br;q=0.5")]

    @Test func aCodedAnswerIsDecodedAndTheRequestsOwnFieldIsSent() async throws {
        try await Bench.with { bench async throws in
            let text = String(repeating: "transfer ", count: 100)
            bench.server.serve("/x", .text(text))
            bench.server.script("/x", [.gzip])
            let outcome = try await bench.send("GET", "/x", headers: Self.accept) { $0.decodes = true }.end()
            #expect(outcome.answer == Array(text.utf8))
            #expect(bench.server.requests.first?.headers.all("Accept-Encoding") == ["gzip;q=1.0, br;q=0.5"])
        }
    }

    @Test func withoutDecodingTheAnswerIsAsItCame() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .text("hello"))
            bench.server.script("/x", [.gzip])
            let outcome = try await bench.send("GET", "/x", headers: Self.accept).end()
            #expect(outcome.answer.starts(with: [0x1f, 0x8b]))
        }
    }

    @Test func aRequestWithoutTheFieldGetsNone() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .text("hello"))
            let outcome = try await bench.send("GET", "/x") { $0.decodes = true }.end()
            #expect(outcome.answer == Array("hello".utf8))
            #expect(bench.server.requests.first?.headers["Accept-Encoding"] == nil)
        }
    }

    @Test func progressCountsTheBytesThatWereAnnounced() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 500_000))
            bench.server.script("/x", [.gzip])
            let attempt = bench.send("GET", "/x", headers: Self.accept) {
                $0.decodes = true
                $0.collectsHopMetrics = true
            }
            let outcome = try await attempt.end()
            #expect(outcome.position == 500_000)
            let announced = try #require(outcome.head?.contentLength)
            #expect(announced != 500_000)
            #expect(attempt.meter.total == announced && attempt.meter.position == announced)
            #expect(outcome.hops.first?.responseBodyBytes == announced)
        }
    }

    @Test func anAnswerThatGrowsBeyondTheBoundIsRefused() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 500_000))
            bench.server.script("/x", [.gzip])
            let outcome = try await bench.send("GET", "/x", headers: Self.accept) {
                $0.decodes = true
                $0.maxDecodedLength = 100_000
            }.end()
            #expect(outcome.error?.code == .badResponse)
            #expect(outcome.error?.message.contains("100000") == true)
        }
    }

    @Test(arguments: ["rot13", "gzip, rot13"])
    func anUnknownCodingIsKeptUndecoded(_ coding: String) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(.text("hello"), headers: ["Content-Encoding": coding]))
            bench.server.serve("/y", .text("coded"))
            bench.server.script("/y", [.gzip])
            let outcome = try await bench.send("GET", "/x", headers: Self.accept) { $0.decodes = true }.end()
            #expect(outcome.answer == Array("hello".utf8) && outcome.head?.contentCoding == coding)
            // The reused handle decodes again.
            let next = try await bench.send("GET", "/y", headers: Self.accept) { $0.decodes = true }.end()
            #expect(next.answer == Array("coded".utf8))
        }
    }

    @Test func aFileIsNeverDecoded() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 50_000))
            bench.server.script("/x", [.gzip])
            let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodes = true }
            #expect(outcome.error == nil && outcome.head?.contentCoding != nil)
            #expect(outcome.position == outcome.head?.contentLength)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct HopMetricsTests {
    @Test func everyHopIsMeasured() async throws {
        try await Bench.with { bench async throws in
            bench.server.script("/a", [], afterwards: .redirect(to: "/x"))
            bench.server.serve("/x", .random(seed: 1, count: 100_000))
            let before = Double(WallClockSeconds.now)
            let outcome = try await bench.send("GET", "/a", headers: [HeaderField("X-A", "b")]) {
                $0.collectsHopMetrics = true
            }.end()
            try #require(outcome.hops.count == 2)
            let (first, second) = (outcome.hops[0], outcome.hops[1])
            #expect(first.status == 302 && second.status == 200)
            #expect(first.url == bench.server.url("/a") && second.url == bench.server.url("/x"))
            #expect(!first.isReused && first.connect > 0)
            #expect(second.isReused)
            #expect(first.start >= before - 1 && second.start >= first.start)
            for hop in outcome.hops {
                #expect(hop.firstByte > 0 && hop.total >= hop.firstByte && hop.requestStart <= hop.firstByte)
                #expect(hop.remoteAddress == "127.0.0.1" && hop.remotePort == Int(bench.server.port))
                #expect(hop.localAddress == "127.0.0.1" && hop.localPort > 0)
                #expect(hop.requestHeaderBytes > 40 && hop.responseHeaderBytes > 40)
                #expect(hop.httpVersion == 2 && hop.tls == 0 && !hop.isProxied)
            }
            #expect(second.responseBodyBytes == 100_000)
        }
    }

    @Test func metricsAreCollectedOnlyOnRequest() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .text("x"))
            #expect(try await bench.send("GET", "/x").end().hops.isEmpty)
        }
    }

    @Test func aConnectionThatFailsIsAHopToo() async throws {
        try await Bench.with { bench async throws in
            let outcome = try await bench.send("GET", "http://127.0.0.1:1/x") { $0.collectsHopMetrics = true }.end()
            #expect(outcome.error?.code == .cannotConnect)
            #expect(outcome.hops.count == 1 && outcome.hops.first?.status == nil)
        }
    }
}

private enum WallClockSeconds {
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec
    }
}
