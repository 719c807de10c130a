import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// A generated body with configurable faults.
final class MadeBody: BodyStream {
    struct Plan {
        var announced: Int64?
        var count: Int
        /// The maximum number of bytes per read.
        var step = 50_000
        var failsAfter: Int?
        var opens = Int.max
    }

    private struct State {
        var opens = 0
        var closes = 0
        var largestRead = 0
        var given: Int = 0
        var released = false
    }

    let plan: Plan
    private let state = Mutex(State())
    var length: Int64? { plan.announced }

    init(_ plan: Plan) { self.plan = plan }

    var opens: Int { state.withLock { $0.opens } }
    var closes: Int { state.withLock { $0.closes } }
    var largestRead: Int { state.withLock { $0.largestRead } }
    var given: Int { state.withLock { $0.given } }

    func open() throws(TransferError) -> any BodyReader {
        let isAllowed = state.withLock { state in
            state.opens += 1
            return state.opens <= plan.opens
        }
        guard isAllowed else { throw TransferError(.sourceChanged, "consumed") }
        return Reader(self)
    }

    /// Returns the byte of a body at an index.
    static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }

    private final class Reader: BodyReader {
        private let body: MadeBody
        private let position = Mutex(0)

        init(_ body: MadeBody) { self.body = body }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
            let plan = body.plan
            let start = position.withLock { $0 }
            if let limit = plan.failsAfter, start >= limit { throw TransferError(.fileAccess, "broken") }
            let count = min(buffer.count, plan.step, plan.count - start)
            for index in 0..<count { buffer[index] = MadeBody.byte(start + index) }
            position.withLock { $0 += count }
            body.state.withLock { state in
                state.largestRead = max(state.largestRead, buffer.count)
                state.given += count
            }
            return count
        }

        func close() { body.state.withLock { $0.closes += 1 } }
    }
}

@Suite(.timeLimit(.minutes(1))) struct StreamedBodyTests {
    @Test(arguments: [0, 1, 127 << 10, 128 << 10, 1_000_000])
    func aBodyOfAKnownLengthArrivesAsItIs(_ count: Int) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: Int64(count), count: count))
            let outcome = try await bench.send("POST", "/in", body: .stream(body)).end()
            #expect(outcome.head?.status == 201 && outcome.sent == Int64(count))
            #expect(sink.uploads.first?.bytes == (0..<count).map(MadeBody.byte))
            #expect(sink.uploads.first?.headers["Content-Length"] == "\(count)")
            await eventually { body.closes == body.opens }
        }
    }

    @Test func aBodyOfUnknownLengthGoesOutInChunks() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: nil, count: 700_000))
            let outcome = try await bench.send("PUT", "/in", body: .stream(body)).end()
            #expect(outcome.head?.status == 201)
            #expect(sink.uploads.first?.headers["Transfer-Encoding"] == "chunked")
            #expect(sink.uploads.first?.bytes == (0..<700_000).map(MadeBody.byte))
        }
    }

    @Test func aBodyThatEndsEarlyIsNeverSentAsAWholeOne() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: 300_000, count: 200_000))
            let outcome = try await bench.send("POST", "/in", body: .stream(body)).end()
            #expect(outcome.error?.code == .sourceChanged)
            #expect(!sink.uploads.contains { $0.isComplete })
        }
    }

    @Test func aBodyThatIsLongerThanAnnouncedIsNeverSentAsAWholeOne() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: 100_000, count: 100_001))
            let outcome = try await bench.send("POST", "/in", body: .stream(body)).end()
            #expect(outcome.error?.code == .sourceChanged)
            #expect(!sink.uploads.contains { $0.isComplete })
        }
    }

    @Test func aReadThatFailsEndsTheExchangeWithItsError() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: 300_000, count: 300_000, failsAfter: 150_000))
            let outcome = try await bench.send("POST", "/in", body: .stream(body)).end()
            #expect(outcome.error?.code == .fileAccess)
            await eventually { body.closes == 1 }
        }
    }

    @Test func aRedirectThatRepeatsTheBodyOpensItAgain() async throws {
        try await Bench.with { bench async throws in
            bench.server.script("/a", [], afterwards: .redirect(to: "/in", status: 307))
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: 300_000, count: 300_000))
            let outcome = try await bench.send("POST", "/a", body: .stream(body)).end()
            #expect(outcome.head?.status == 201)
            #expect(sink.uploads.first?.bytes == (0..<300_000).map(MadeBody.byte))
            #expect(body.opens == 2)
            await eventually { body.closes == 2 }
        }
    }

    @Test func aBodyThatCannotBeOpenedAgainEndsTheExchange() async throws {
        try await Bench.with { bench async throws in
            bench.server.script("/a", [], afterwards: .redirect(to: "/in", status: 308))
            let sink = bench.server.acceptUploads("/in")
            let body = MadeBody(.init(announced: 300_000, count: 300_000, opens: 1))
            let outcome = try await bench.send("POST", "/a", body: .stream(body)).end()
            #expect(outcome.error?.message == "consumed")
            #expect(!sink.uploads.contains { $0.isComplete })
        }
    }

    @Test func readsAreBoundedHoweverLongTheBodyIs() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in", keepsBytes: false)
            let body = MadeBody(.init(announced: 20 << 20, count: 20 << 20, step: 1 << 20))
            let outcome = try await bench.send("POST", "/in", body: .stream(body)).end()
            #expect(outcome.head?.status == 201 && sink.uploads.map(\.count) == [20 << 20])
            #expect(body.largestRead <= 256 << 10)
        }
    }

    @Test func aServerThatDoesNotReadStopsTheReading() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 100_000)])
            let body = MadeBody(.init(announced: 64 << 20, count: 64 << 20))
            let attempt = bench.send("POST", "/in", body: .stream(body))
            try await bench.server.waitForHeld(1)
            var before = -1
            // The transfer runs until the buffers of the socket are full.
            await eventually {
                let same = before == body.given && before > 0
                before = body.given
                return same
            }
            #expect(body.given < 32 << 20)
            attempt.handle.cancel()
            #expect(try await attempt.end().error?.code == .cancelled)
            await eventually { body.closes == 1 }
        }
    }
}
