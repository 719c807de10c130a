import Dispatch
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The decision about a server's certificate, its time and its waiters, against a real nginx.
@Suite("TLS handshakes", .timeLimit(.minutes(2)))
struct HandshakeTests {
    struct Refused: Error, Equatable { let host: String }

    /// The newest version of TLS that the server speaks. In TLS 1.2 a stapled OCSP response follows the certificates.
    static let versions = ["TLSv1.2", "TLSv1.3"]

    private func withServer(
        _ version: String = "TLSv1.3", http2: Bool = true, server: String = "", location: String = "return 200 hello;",
        _ body: (Bench, NginxServer, TrustAnchors) async throws -> Void
    ) async throws {
        try await Bench.with { bench in
            var options = NginxServer.Options()
            let certificate = try await ServerCertificate.make(in: bench.folder)
            options.certificate = certificate
            options.speaksHTTP2 = http2
            options.server = "ssl_protocols \(version); \(server)"
            options.location = location
            try await body(bench, NginxServer.start(options: options), TrustAnchors(pemFile: certificate.path))
        }
    }

    private func get(_ bench: Bench, _ nginx: NginxServer, _ rules: TLSRules) async throws -> ExchangeOutcome {
        try await bench.send("GET", nginx.url("/x")) { $0.tls = rules }.end()
    }

    @Test(arguments: versions) func aKnownServerIsAcceptedAndAnUnknownOneIsNot(_ version: String) async throws {
        try await withServer(version) { bench, nginx, anchors in
            let known = try await get(bench, nginx, TLSRules(anchors: anchors))
            #expect(known.head?.status == 200)
            let stranger = try await get(bench, nginx, .system)
            #expect(stranger.error?.code == .certificateRefused && stranger.error?.isTransient == false)
            await nginx.stop()
            let log = try nginx.accessLog()
            #expect(log.count == 1)
        }
    }

    @Test(arguments: versions) func aCheckSeesTheChainAndTheHostAndDecides(_ version: String) async throws {
        try await withServer(version) { bench, nginx, anchors in
            let seen = Mutex<[String]>([])
            let accepting = TLSRules(anchors: anchors) { trust in
                seen.withLock { $0.append("\(trust.host) \(trust.certificates.count)") }
            }
            let refusing = TLSRules(anchors: anchors) { throw Refused(host: $0.host) }
            let accepted = try await get(bench, nginx, accepting)
            #expect(accepted.head?.status == 200 && accepted.refusal == nil)
            // The connection is used again, and the check is not asked.
            let again = try await get(bench, nginx, accepting)
            #expect(again.head?.status == 200 && again.metrics.connectionsMade == 0)
            #expect(seen.withLock { $0 } == ["127.0.0.1 1"])
            let refused = try await get(bench, nginx, refusing)
            #expect(refused.error?.code == .certificateRefused)
            #expect(refused.refusal as? Refused == Refused(host: "127.0.0.1"))
            await nginx.stop()
            let log = try nginx.accessLog()
            #expect(log.count == 2)
        }
    }

    /// nginx answers `r` for a resumed session and `.` for a new session.
    @Test(arguments: versions) func sessionsAreResumedAndNeverUnderOtherRules(_ version: String) async throws {
        let server = "keepalive_timeout 0; ssl_session_cache shared:s:1m;"
        // libcurl 7.88 offers no session after HTTP/2 was used.
        try await withServer(version, http2: false, server: server, location: "return 200 $ssl_session_reused;") {
            bench, nginx, anchors in
            let (rules, others) = (TLSRules(anchors: anchors), TLSRules(anchors: anchors) { _ in })
            var said = ""
            for rules in [rules, rules, rules, others, others, rules] {
                let outcome = try await get(bench, nginx, rules)
                #expect(outcome.metrics.connectionsMade == 1)
                said += String(decoding: outcome.answer, as: UTF8.self)
            }
            #expect(said == ".rr.rr")
            await nginx.stop()
        }
    }

    @Test func aSlowCheckDoesNotDelayOtherHandshakes() async throws {
        try await withServer { bench, nginx, anchors in
            let gate = DispatchSemaphore(value: 0)
            let slow = bench.send("GET", nginx.url("/slow")) {
                $0.tls = TLSRules(anchors: anchors) { _ in gate.wait() }
            }
            for _ in 0..<5 {
                let other = try await get(bench, nginx, TLSRules(anchors: anchors) { _ in })
                #expect(other.head?.status == 200)
            }
            #expect(slow.log.ends == 0)
            gate.signal()
            let outcome = try await slow.end()
            #expect(outcome.head?.status == 200)
        }
    }

    @Test func anEndlessCheckIsAbandonedAtTheConnectTimeout() async throws {
        try await withServer { bench, nginx, anchors in
            let gate = DispatchSemaphore(value: 0)
            defer { gate.signal() }
            let attempt = bench.send("GET", nginx.url("/slow")) {
                $0.connectTimeout = .seconds(1)
                $0.tls = TLSRules(anchors: anchors) { _ in gate.wait() }
            }
            let outcome = try await attempt.end()
            #expect(outcome.error?.code == .cannotConnect && outcome.error?.isTransient == true)
            #expect(outcome.error?.message.contains("not judged in time") == true)
        }
    }

    /// Each handshake runs on a stack of its own, which must be freed.
    @Test func cancelledHandshakesLeaveNothingBehind() async throws {
        try await withServer { bench, nginx, anchors in
            for _ in 0..<100 {
                let gate = DispatchSemaphore(value: 0)
                let (signals, signal) = AsyncStream.makeStream(of: Void.self)
                let rules = TLSRules(anchors: anchors) { _ in
                    signal.yield()
                    gate.wait()
                }
                let attempt = bench.send("GET", nginx.url("/x")) { $0.tls = rules }
                for await _ in signals { break }
                attempt.handle.cancel()
                let outcome = try await attempt.end()
                #expect(outcome.error?.code == .cancelled)
                gate.signal()
            }
            let set = try #require(Mirror(reflecting: bench.engine).descendant("loops", 0) as? PoolSet)
            #expect(set.all.map { $0.lostHandshakes.load(ordering: .relaxed) }.allSatisfy { $0 == 0 })
        }
    }

    @Test func rulesDoNotShareConnections() async throws {
        try await withServer { bench, nginx, anchors in
            let (one, two) = (TLSRules(anchors: anchors), TLSRules(anchors: anchors))
            for (rules, made) in [(one, 1), (two, 1), (one, 0), (two, 0)] {
                let outcome = try await get(bench, nginx, rules)
                #expect(outcome.metrics.connectionsMade == made)
            }
        }
    }

    @Test func aPinnedKeyHasToBeInTheChain() async throws {
        try await withServer { bench, nginx, anchors in
            let pin = Mutex("")
            _ = try await get(
                bench, nginx,
                TLSRules(anchors: anchors) { trust in pin.withLock { $0 = trust.certificates[0].publicKey.pin } })
            let right = try await get(
                bench, nginx, TLSRules(anchors: anchors, pins: [pin.withLock { $0 }, "sha256/other"]))
            #expect(right.head?.status == 200)
            let wrong = try await get(bench, nginx, TLSRules(anchors: anchors, pins: ["sha256/other"]))
            #expect(wrong.error?.code == .certificateRefused)
        }
    }

    @Test func aSuspendedExchangeIsCheckedAndResumes() async throws {
        try await withServer { bench, nginx, anchors in
            let gate = DispatchSemaphore(value: 0)
            let (signals, signal) = AsyncStream.makeStream(of: Void.self)
            let attempt = bench.send("GET", nginx.url("/x")) {
                $0.tls = TLSRules(anchors: anchors) { _ in
                    signal.yield()
                    gate.wait()
                }
            }
            for await _ in signals { break }
            attempt.handle.suspend()
            gate.signal()
            attempt.handle.resume()
            let outcome = try await attempt.end()
            #expect(outcome.head?.status == 200)
        }
    }
}
