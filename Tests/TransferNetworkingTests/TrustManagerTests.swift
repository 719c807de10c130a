import Foundation
import Testing
import TransferCore
import TransferCrypto
import TransferTestSupport

@testable import TransferNetworking

@Suite struct TrustManagerTests {
    private struct Named: ServerTrustEvaluating {
        let name: String
        func evaluate(_ trust: SecTrust, forHost host: String) throws { throw TestFailure() }
    }

    @Test func eachHostHasItsEvaluator() throws {
        let manager = ServerTrustManager(evaluators: [
            "one.example": Named(name: "1"), "Two.Example": Named(name: "2"), "::1": Named(name: "6"),
            "bücher.example": Named(name: "b"),
        ])
        #expect(manager.allHostsMustBeEvaluated)
        #expect(manager.evaluators.count == 4)
        for (host, name) in [
            ("one.example", "1"), ("ONE.example", "1"), ("one.example.", "1"), ("two.example", "2"), ("[::1]", "6"),
            ("xn--bcher-kva.example", "b"), ("BÜCHER.example", "b"),
        ] {
            let evaluator = try manager.serverTrustEvaluator(forHost: host) as? Named
            #expect(evaluator?.name == name)
        }
    }

    @Test func aHostWithoutAnEvaluatorIsRefusedByDefault() throws {
        let strict = ServerTrustManager(evaluators: [:])
        let error = #expect(throws: AFError.self) { try strict.serverTrustEvaluator(forHost: "a.example") }
        guard case .serverTrustEvaluationFailed(.noRequiredEvaluator(let host)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(host == "a.example")
        let lax = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        let evaluator = try lax.serverTrustEvaluator(forHost: "a.example")
        #expect(evaluator == nil)
    }

    /// A manager like the documents' example, which does not throw either.
    private final class Wildcards: ServerTrustManager, @unchecked Sendable {  // This class adds no state.
        override func serverTrustEvaluator(forHost host: String) -> (any ServerTrustEvaluating)? {
            host.hasSuffix(".example") ? Named(name: "*") : nil
        }
    }

    @Test func aSubclassDecidesByItself() throws {
        let manager: ServerTrustManager = Wildcards(evaluators: [:])
        let evaluator = try manager.serverTrustEvaluator(forHost: "a.b.example") as? Named
        #expect(evaluator?.name == "*")
        let none = try manager.serverTrustEvaluator(forHost: "a.org")
        #expect(none == nil)
    }

    @Test func sessionsCarryTheirManagerAndIdentities() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue { $0.usage = "clientAuth" }
        let manager = ServerTrustManager(evaluators: [:])
        let session = Session(serverTrustManager: manager)
        #expect(session.serverTrustManager === manager)
        #expect(Session().serverTrustManager == nil)
        var settings = SessionSettings()
        #expect(
            settings.serverTrustManager == nil && settings.clientIdentity == nil && settings.clientIdentities.isEmpty)
        let identity = try ClientIdentity(pemCertificate: issued.chain, key: issued.key)
        settings.clientIdentities = ["a.example": identity]
        #expect(Session(settings).settings.clientIdentities["a.example"] == identity)
    }

    @Test func everyReasonDescribesItself() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let output = AFError.ServerTrustFailureReason.Output("h", trust, TrustFailure(.revoked, code: 23, "why"))
        let reasons: [(AFError.ServerTrustFailureReason, String)] = [
            (.noRequiredEvaluator(host: "h.example"), "h.example"), (.noCertificatesFound, "certificates"),
            (.noPublicKeysFound, "keys"), (.policyApplicationFailed(trust: trust, policy: .chain, status: 7), "7"),
            (.settingAnchorCertificatesFailed(status: 8, certificates: []), "8"),
            (.revocationPolicyCreationFailed, "revocation"), (.trustEvaluationFailed(error: nil), "refused"),
            (.defaultEvaluationFailed(output: output), "why"), (.hostValidationFailed(output: output), "why"),
            (.revocationCheckFailed(output: output, options: .any), "why"),
            (
                .certificatePinningFailed(
                    host: "h.example", trust: trust, pinnedCertificates: [], serverCertificates: []),
                "h.example"
            ),
            (.publicKeyPinningFailed(host: "h.example", trust: trust, pinnedKeys: [], serverKeys: []), "h.example"),
            (.customEvaluationFailed(error: TestFailure()), "TestFailure"),
        ]
        for (reason, part) in reasons {
            let error = AFError.serverTrustEvaluationFailed(reason: reason)
            #expect(error.localizedDescription.contains(part), "\(reason)")
        }
    }
}
