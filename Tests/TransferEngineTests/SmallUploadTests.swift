import Foundation
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// Small uploads whose bodies leave together with their heads differ from other uploads only in cost.
@Suite(.timeLimit(.minutes(1))) struct SmallUploadTests {
    private func joined(_ settings: inout ExchangeSettings) { settings.joinsSmallBodies = true }

    private func apart(_ settings: inout ExchangeSettings) { settings.joinsSmallBodies = false }

    /// An exchange as its caller sees it.
    struct Seen: Equatable {
        var code: TransferError.Code?
        var isTransient: Bool?
        var status: Int?
        var answer: String
        var sent: Int64
        var interim: [Int]
        var path: String

        init(_ outcome: ExchangeOutcome, _ log: ExchangeLog) {
            code = outcome.error?.code
            isTransient = outcome.error?.isTransient
            status = outcome.head?.status
            answer = String(decoding: outcome.answer, as: UTF8.self)
            sent = outcome.sent
            interim = log.interim.map(\.status)
            // Each exchange has a server of its own.
            path = outcome.finalURL.components(separatedBy: "/").dropFirst(3).joined(separator: "/")
        }
    }

    struct Endings: Equatable {
        var seen: [Seen] = []
        var requests = 0
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

    @Test(arguments: behaviours) func endsAsOthersDo(_ behaviour: Behaviour) async throws {
        #expect(try await endings(behaviour, joined) == endings(behaviour, apart))
    }

    private func endings(
        _ behaviour: Behaviour, _ change: (inout ExchangeSettings) -> Void
    ) async throws -> Endings {
        var endings = Endings()
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.acceptUploads("/other")
            bench.server.script("/in", [behaviour.fault])
            // The next request contains nothing of the body.
            for body in ["first", "second one"] {
                let attempt = bench.send("PUT", "/in", body: .bytes(Array(body.utf8)), change)
                let outcome = try await attempt.end()
                #expect(attempt.log.ends == 1 && attempt.meter.sent == outcome.sent)
                endings.seen.append(Seen(outcome, attempt.log))
            }
            endings.requests = bench.server.requests.count
        }
        return endings
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
                for change in [apart, joined] {
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
                let outcome = try await bench.send("PUT", "/in", body: .bytes([UInt8(number)]), joined).end()
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
                    let body = [UInt8](repeating: UInt8(number), count: 4096)
                    return bench.send("PUT", "/in?\(number)", body: .bytes(body), joined)
                }
                for attempt in attempts { #expect(try await attempt.end().head?.status == 201) }
            }
            #expect(bench.server.connectionCount <= 64 && sink.uploads.count == 192)
            #expect(sink.uploads.allSatisfy { upload in upload.count == 4096 && Set(upload.bytes).count == 1 })
        }
    }

    @Test func aCancelledUploadEndsWithItsConnection() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead])
            let attempt = bench.send("PUT", "/in", body: .bytes([1]), joined)
            try await bench.server.waitForRequests(1)
            attempt.handle.cancel()
            #expect(try await attempt.end().error?.code == .cancelled)
            try await bench.server.waitForConnections(closed: 1)
            #expect(try await bench.send("PUT", "/in", body: .bytes([2]), joined).end().head?.status == 201)
        }
    }

    @Test func aSilentServerIsGivenUp() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead, .holdHead])
            let silent = try await bench.send("PUT", "/in", body: .bytes([1])) {
                $0.joinsSmallBodies = true
                $0.lowSpeedTime = .seconds(1)
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

    /// An unread answer waits in the kernel.
    @Test func aSuspendedUploadResumesOnDemand() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead])
            let attempt = bench.send("PUT", "/in", body: .bytes([1]), joined)
            try await bench.server.waitForHeld(1)
            attempt.handle.suspend()
            attempt.handle.resume()
            attempt.handle.suspend()
            // Commands run in order: once this exchange has ended, the earlier commands have run.
            #expect(try await bench.send("PUT", "/other", body: .bytes([2]), joined).end().head?.status == 404)
            bench.server.release()
            try await bench.server.waitForAnswers(2)
            #expect(try await bench.send("PUT", "/other", body: .bytes([3]), joined).end().head?.status == 404)
            #expect(attempt.log.ends == 0)
            attempt.handle.resume()
            #expect(try await attempt.end().head?.status == 201)
        }
    }

    /// New exchanges do not use connections of the former network.
    @Test func anotherNetworkGetsOtherConnections() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            _ = try await bench.send("PUT", "/in", body: .bytes([1]), joined).end()
            bench.engine.renewNetwork()
            try await bench.server.waitForConnections(closed: 1)
            let outcome = try await bench.send("PUT", "/in", body: .bytes([2]), joined).end()
            #expect(outcome.head?.status == 201 && bench.server.connectionCount == 2)
        }
    }

    /// The server sees each connection closed, however its exchange ended.
    @Test func leavesNoConnectionOpen() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            for _ in 0..<50 {
                bench.server.script("/in", [.closeAfterwards, .garbage(), .closeBeforeHead, .status(500)])
                for _ in 0..<4 { _ = try await bench.send("PUT", "/in", body: .bytes([1]), joined).end() }
            }
            #expect(bench.server.connectionCount >= 150)
            try await bench.server.waitForConnections(closed: bench.server.connectionCount - 1)
            #expect(bench.server.openConnections <= 1)
        }
    }
}
