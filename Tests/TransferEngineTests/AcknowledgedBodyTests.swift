import Synchronization
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// Bodies that the kernel accepts at once and that a slow reader receives in small pieces.
@Suite(.timeLimit(.minutes(1))) struct AcknowledgedBodyTests {
    /// The send buffer holds the whole body long before the server has read it.
    @Test func aBodyHasArrivedOnceItIsAcknowledged() async throws {
        let engine = try ExchangeEngine(loops: 1)
        defer { engine.shutDown() }
        try await withTestServer { server in
            server.limitReceiveBuffer(16 << 10)
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.stallUpload(after: 100_000)])
            let meter = ExchangeMeter()
            var request = ExchangeRequest(
                url: server.url("/in"), method: "PUT", body: .bytes([UInt8](repeating: 7, count: 600_000)))
            request.settings.expectsContinue = false
            let outcome = Task { await engine.perform(request, meter: meter) }
            try await server.waitForHeld(1)
            // The pool samples the connection periodically, and the next sample sees the bytes that the server has
            // read.
            while meter.acknowledged < 100_000 { await Task.yield() }
            #expect(meter.acknowledged <= 100_000 + (128 << 10) && meter.sent >= meter.acknowledged)
            server.release()
            let end = await outcome.value
            #expect(end.isSuccess && meter.acknowledged == 600_000)
        }
    }

    /// No further write happens, and the remaining bytes drain for longer than the idle timeout.
    @Test func aSendBufferThatDrainsIsNoSilence() async throws {
        let engine = try ExchangeEngine(loops: 1)
        defer { engine.shutDown() }
        try await withTestServer { server in
            server.limitReceiveBuffer(16 << 10)
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.trickleUpload(16 << 10, every: .milliseconds(100))])
            let meter = ExchangeMeter()
            var request = ExchangeRequest(
                url: server.url("/in"), method: "PUT", body: .bytes([UInt8](repeating: 7, count: 500_000)))
            request.settings.expectsContinue = false
            request.settings.lowSpeedTime = .seconds(1)
            let end = await engine.perform(request, meter: meter)
            #expect(end.isSuccess, "\(end.result)")
        }
    }
}

extension ExchangeOutcome {
    fileprivate var isSuccess: Bool { if case .success = result { true } else { false } }
}

extension ExchangeEngine {
    fileprivate func perform(_ request: ExchangeRequest, meter: ExchangeMeter) async -> ExchangeOutcome {
        await withCheckedContinuation { continuation in
            _ = start(request, meter: meter, makeSink: { AnswerSink(limit: 1 << 10) }) { event in
                if case .ended(let outcome) = event { continuation.resume(returning: outcome) }
            }
        }
    }
}
