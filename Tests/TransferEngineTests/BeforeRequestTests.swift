import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestSupport

/// The engine observes whether a request has left, and does not guess it from the kind of failure. That decides whether
/// an empty file, which has no byte that could leave, may have arrived.
@Suite(.timeLimit(.minutes(1))) struct BeforeRequestTests {
    /// The kernel accepts connections, and no server answers on them.
    private func put(_ scheme: String, _ judge: (ExchangeOutcome) throws -> Void) async throws {
        let silent = try LoopbackListener(backlog: 8)
        defer { close(silent.descriptor) }
        try await Bench.with { bench in
            let url = "\(scheme)://127.0.0.1:\(silent.port)/f"
            let attempt = bench.send("PUT", url, body: .bytes([])) { settings in
                settings.idleTimeout = .milliseconds(200)
                settings.connectTimeout = .milliseconds(200)
                settings.credentials = .password(user: "u", password: "p")
                settings.files.hostKey = "SHA256:AAAA"
            }
            try judge(try await attempt.end())
        }
    }

    @Test(arguments: ["sftp", "ftp", "https"]) func silenceBeforeTheLoginHasHeardNothing(_ scheme: String) async throws
    {
        try await put(scheme) { outcome in
            let error = try #require(outcome.error)
            #expect(error.isTransient && DeliveryRule.isBeforeRequest(error) && !outcome.bodyLeft, "\(error)")
            #expect(!DeliveryRule.mayHaveArrived(error, sent: outcome.sent, of: 0))
        }
    }

    @Test func silenceAfterTheRequestMayHaveTakenIt() async throws {
        try await put("http") { outcome in
            let error = try #require(outcome.error)
            #expect(!DeliveryRule.isBeforeRequest(error) && outcome.bodyLeft, "\(error)")
            #expect(DeliveryRule.mayHaveArrived(error, sent: outcome.sent, of: 0))
        }
    }
}
