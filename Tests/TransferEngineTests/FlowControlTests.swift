import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// A sink that accepts bytes only while its gate is open.
final class GatedSink: BodySink {
    /// The gate, which the test shares. The sink itself stays on its loop.
    final class Gate: Sendable {
        private struct State {
            var isOpen: Bool
            var limit: Int64
            var count: Int64 = 0
        }

        private let state: Mutex<State>

        /// - Parameter limit: The number of bytes after which the gate closes automatically.
        init(isOpen: Bool = true, limit: Int64 = .max) { state = Mutex(State(isOpen: isOpen, limit: limit)) }

        var isOpen: Bool { state.withLock { $0.isOpen } }
        var count: Int64 { state.withLock { $0.count } }

        func add(_ count: Int) {
            state.withLock { state in
                state.count += Int64(count)
                if state.count >= state.limit { state.isOpen = false }
            }
        }

        func open() {
            state.withLock { state in
                state.isOpen = true
                state.limit = .max
            }
        }
    }

    let gate: Gate
    private(set) var position: Int64 = 0
    init(_ gate: Gate) { self.gate = gate }
    var isReady: Bool { gate.isOpen }
    func begin(_ start: BodyStart) throws(TransferError) { position = 0 }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(bytes.count)
        gate.add(bytes.count)
    }
}

@Suite(.timeLimit(.minutes(1))) struct FlowControlTests {
    private func start(
        _ bench: Bench, _ gate: GatedSink.Gate, _ change: (inout ExchangeSettings) -> Void = { _ in }
    ) -> Bench.Attempt {
        var settings = ExchangeSettings()
        settings.receiveBufferSize = 64 << 10
        change(&settings)
        let request = ExchangeRequest(url: bench.server.url("/x"), settings: settings)
        let (log, meter) = (ExchangeLog(), ExchangeMeter())
        let handle = bench.engine.start(
            request, meter: meter, makeSink: { GatedSink(gate) }, events: log.receive)
        return .init(handle: handle, log: log, meter: meter, part: nil, engine: bench.engine)
    }

    @Test func nothingIsReadBeforeTheSinkIsReady() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 8 << 20))
            let gate = GatedSink.Gate(isOpen: false)
            let attempt = start(bench, gate)
            await attempt.log.untilResponded()
            #expect(gate.count == 0 && attempt.log.ends == 0)
            gate.open()
            attempt.handle.proceed()
            #expect(try await attempt.end().position == 8 << 20)
            #expect(gate.count == 8 << 20)
        }
    }

    @Test func aSinkThatShutsStopsTheTransferUntilItProceeds() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 32 << 20))
            let gate = GatedSink.Gate(limit: 1 << 20)
            let attempt = start(bench, gate)
            await eventually { !gate.isOpen }
            // Other exchanges continue meanwhile.
            #expect(try await bench.send("GET", "/x").end().position == 32 << 20)
            #expect(gate.count < 2 << 20 && attempt.log.ends == 0)
            // `proceed()` has no effect while the sink is not ready.
            attempt.handle.proceed()
            #expect(try await bench.send("GET", "/x").end().position == 32 << 20)
            #expect(gate.count < 2 << 20)
            gate.open()
            attempt.handle.proceed()
            #expect(try await attempt.end().position == 32 << 20)
        }
    }

    @Test func aHeldExchangeIsNotEndedAsIdle() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 8 << 20))
            let gate = GatedSink.Gate(isOpen: false)
            let attempt = start(bench, gate) { $0.idleTimeout = .seconds(1) }
            await attempt.log.untilResponded()
            // Another exchange is given up meanwhile, after the time for which the first was held.
            bench.server.script("/silent", [.holdHead])
            let silent = bench.send("GET", "/silent") { $0.idleTimeout = .milliseconds(1500) }
            #expect(try await silent.end().error?.code == .timedOut)
            #expect(attempt.log.ends == 0)
            gate.open()
            attempt.handle.proceed()
            #expect(try await attempt.end().error == nil)
        }
    }

    @Test func aSuspendedExchangeWhoseSinkIsReadyAgainStaysSuspended() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 8 << 20))
            let gate = GatedSink.Gate(isOpen: false)
            let attempt = start(bench, gate)
            await attempt.log.untilResponded()
            attempt.handle.suspend()
            // One loop runs both exchanges: once this one has ended, the loop has seen the suspension.
            #expect(try await bench.send("GET", "/x").end().error == nil)
            gate.open()
            attempt.handle.proceed()
            #expect(try await bench.send("GET", "/x").end().error == nil)
            #expect(gate.count == 0)
            attempt.handle.resume()
            #expect(try await attempt.end().position == 8 << 20)
        }
    }

    @Test func aHeldExchangeCanBeCancelled() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 8 << 20))
            let attempt = start(bench, GatedSink.Gate(isOpen: false))
            await attempt.log.untilResponded()
            attempt.handle.cancel()
            #expect(try await attempt.end().error?.code == .cancelled)
        }
    }

    @Test func maxTimeEndsAHeldExchangeToo() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 8 << 20))
            let attempt = start(bench, GatedSink.Gate(isOpen: false)) { $0.maxTime = .milliseconds(300) }
            #expect(try await attempt.end().error?.code == .timedOut)
        }
    }

    // MARK: Silence

    @Test func silenceBeforeTheHeadIsTimedOut() async throws {
        try await Bench.with { bench async throws in
            bench.server.script("/x", [.holdHead])
            let outcome = try await bench.send("GET", "/x") { $0.idleTimeout = .milliseconds(200) }.end()
            #expect(outcome.error?.code == .timedOut && outcome.error?.isTransient == true)
        }
    }

    @Test func silenceInTheBodyIsTimedOutAndResumable() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 400_000), etag: "\"a\""))
            bench.server.script("/x", [.stall(after: 100_000)])
            let (outcome, _) = try await bench.download { $0.idleTimeout = .seconds(1) }
            #expect(outcome.error?.code == .timedOut)
            #expect(outcome.position == 100_000 && outcome.resumePoint?.offset == 100_000)
        }
    }

    @Test func aSlowTransferThatIsNeverSilentIsLeftAlone() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", .random(seed: 1, count: 12_000))
            bench.server.script("/x", [.trickle(500, every: .milliseconds(100))])
            // The transfer takes 2.4 s.
            let outcome = try await bench.send("GET", "/x") { $0.idleTimeout = .milliseconds(1500) }.end()
            #expect(outcome.error == nil && outcome.position == 12_000)
        }
    }
}
