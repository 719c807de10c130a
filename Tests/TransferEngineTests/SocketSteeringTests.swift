import Foundation
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// The congestion control of sending connections, and the pacing of background exchanges.
@Suite(.timeLimit(.minutes(1))) struct SocketSteeringTests {
    private static let size = 1 << 20

    private func upload(
        _ bench: Bench, _ configure: (inout ExchangeSettings) -> Void
    ) async throws -> (ExchangeOutcome, CongestionUse?) {
        let path = try bench.folder.write(count: Self.size, seed: 1, to: "source")
        let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)), configure)
        let outcome = try await attempt.end()
        return (outcome, attempt.meter.congestion)
    }

    /// Every kernel has Reno, and every user may select it.
    @Test func aSendingConnectionUsesTheJobsAlgorithm() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let (outcome, use) = try await upload(bench) { $0.sending.congestion = .named("reno") }
            #expect(outcome.head?.status == 201)
            #expect(use == CongestionUse(name: "reno", reason: .asked))
        }
    }

    @Test func anUnavailableAlgorithmIsReportedAndHarmless() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            for _ in 0..<2 {
                let (outcome, use) = try await upload(bench) { $0.sending.congestion = .named("nosuchcontrol") }
                #expect(outcome.head?.status == 201)
                #expect(use == CongestionUse(name: "nosuchcontrol", reason: .refused(ENOENT)))
            }
        }
    }

    @Test(arguments: [CongestionControl.automatic, .system])
    func withoutLossTheSystemsAlgorithmStays(_ control: CongestionControl) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let (outcome, use) = try await upload(bench) { $0.sending.congestion = control }
            #expect(outcome.head?.status == 201)
            #expect(use == nil)
        }
    }

    @Test func aBackgroundExchangeTransfersEverything() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let (outcome, _) = try await upload(bench) { $0.isBackground = true }
            #expect(outcome.head?.status == 201 && outcome.sent == Int64(Self.size))
        }
    }
}
