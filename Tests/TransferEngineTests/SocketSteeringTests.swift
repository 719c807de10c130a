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
        let (outcome, attempt) = try await attempt(bench, configure)
        return (outcome, attempt.meter.congestion)
    }

    private func attempt(
        _ bench: Bench, _ configure: (inout ExchangeSettings) -> Void
    ) async throws -> (ExchangeOutcome, Bench.Attempt) {
        let path = try bench.folder.write(count: Self.size, seed: 1, to: "source")
        let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)), configure)
        return (try await attempt.end(), attempt)
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

    @Test func aRefusalOfTheKernelIsReportedOnceAndCostsNothing() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            for (name, isNew) in [("nosuchcontrol", true), ("nosuchcontrol", false), ("norsuch", true)] {
                let (outcome, attempt) = try await attempt(bench) { $0.sending.congestion = .named(name) }
                let refusal = CongestionUse(name: name, reason: .refused(ENOENT))
                #expect(outcome.head?.status == 201 && attempt.meter.congestion == refusal)
                #expect(attempt.log.refusals == (isNew ? [refusal] : []))
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
