import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferCrypto

@Suite struct ServerTrustTests {
    private func trust(
        _ issued: TestAuthority.Issued, host: String = "localhost", anchors: String? = nil
    ) async throws -> ServerTrust {
        let authority = try await TestAuthority.shared()
        return ServerTrust(
            chain: try Certificate.certificates(atPath: issued.chain), host: host,
            anchors: try TrustAnchors(pemFile: anchors ?? authority.anchors), ocspResponse: nil)
    }

    private func failure(of result: TrustResult) -> TrustFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1"])
    func acceptsAGoodChainForEachOfItsNames(host: String) async throws {
        let issued = try await TestAuthority.shared().issue()
        let chain = try await trust(issued, host: host).evaluate().get()
        #expect(chain.map(\.subject) == ["CN=localhost", "CN=Test Intermediate,O=Test", "CN=Test Root,O=Test"])
    }

    @Test(arguments: ["localhos", "other.localhost", "127.0.0.2", "::2", "", ".localhost", "*", "localhost\0.evil.org"])
    func refusesAHostThatTheCertificateDoesNotList(host: String) async throws {
        let issued = try await TestAuthority.shared().issue()
        let trust = try await trust(issued, host: host)
        let failure = failure(of: trust.evaluate())
        #expect(failure?.kind == .wrongHost)
        #expect(failure?.description.contains("is for 127.0.0.1, ::1, localhost, not for \(host)") == true)
        let without = trust.evaluate(validatesHost: false)
        #expect(throws: Never.self) { try without.get() }
    }

    @Test func anExpiredCertificateIsNamedWithItsDate() async throws {
        let issued = try await TestAuthority.shared().issue {
            $0.validFrom = -10
            $0.validUntil = -1
        }
        let trust = try await trust(issued)
        let failure = failure(of: trust.evaluate())
        #expect(failure?.kind == .expired)
        #expect(failure?.code == 10)
        let date = UTCDate.text(trust.certificates[0].notAfter)
        #expect(failure?.description == "the certificate of CN=localhost expired on \(date)")
    }

    @Test func aCertificateOfTomorrowIsNotYetValid() async throws {
        let issued = try await TestAuthority.shared().issue { $0.validFrom = 1 }
        let trust = try await trust(issued)
        #expect(failure(of: trust.evaluate())?.kind == .notYetValid)
        let later = trust.evaluate(at: UTCDate.now() + 90_000)
        #expect(failure(of: later) == nil)
    }

    @Test func aSelfSignedCertificateIsRefusedUnlessItIsAnAnchor() async throws {
        let issued = try await TestAuthority.shared().issue { $0.signer = .itself }
        let trust = try await trust(issued)
        #expect(failure(of: trust.evaluate())?.kind == .selfSigned)
        #expect(trust.certificates[0].isSelfSigned)
        let pinned = trust.evaluate(additionalAnchors: trust.certificates, onlyAdditionalAnchors: true)
        #expect(failure(of: pinned) == nil)
    }

    @Test func anotherAuthorityIsUnknown() async throws {
        let other = try await TestAuthority.make(name: "Other")
        let issued = try await other.issue()
        let trust = try await trust(issued)
        #expect(failure(of: trust.evaluate())?.kind == .unknownAuthority)
        let roots = try Certificate.certificates(atPath: other.anchors)
        let added = trust.evaluate(additionalAnchors: roots)
        #expect(failure(of: added) == nil)
    }

    @Test func additionalAnchorsLeaveTheOthersUnlessTheyAreTheOnlyOnes() async throws {
        let other = try await TestAuthority.make(name: "Other")
        let issued = try await TestAuthority.shared().issue()
        let trust = try await trust(issued)
        let roots = try Certificate.certificates(atPath: other.anchors)
        #expect(failure(of: trust.evaluate(additionalAnchors: roots)) == nil)
        let only = trust.evaluate(additionalAnchors: roots, onlyAdditionalAnchors: true)
        #expect(failure(of: only)?.kind == .unknownAuthority)
        #expect(failure(of: trust.evaluate(onlyAdditionalAnchors: true))?.kind == .unknownAuthority)
    }

    @Test func aMissingIntermediateIsNamed() async throws {
        let issued = try await TestAuthority.shared().issue { $0.sendsIntermediate = false }
        let failure = failure(of: try await trust(issued).evaluate())
        #expect(failure?.kind == .unknownAuthority)
        #expect(failure?.description.contains("which CN=Test Intermediate,O=Test issued") == true)
    }

    @Test func chainsEndAtAnIntermediateOrALeafThatIsAnAnchor() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let short = try await trust(issued, anchors: authority.intermediate.certificate).evaluate().get()
        #expect(short.count == 2)
        let shortest = try await trust(issued, anchors: issued.certificate).evaluate().get()
        #expect(shortest.count == 1)
    }

    @Test func aClientsCertificateIsNoServers() async throws {
        let issued = try await TestAuthority.shared().issue { $0.usage = "clientAuth" }
        let failure = failure(of: try await trust(issued).evaluate())
        #expect(failure?.kind == .other)
        #expect(failure?.code == 26)
    }

    @Test func aChangedSignatureIsBad() async throws {
        let issued = try await TestAuthority.shared().issue()
        let sent = try await trust(issued)
        var der = sent.certificates[0].der
        der[der.count - 1] ^= 1
        let changed = ServerTrust(
            chain: [try Certificate(der: der)] + sent.certificates.dropFirst(), host: "localhost",
            anchors: sent.anchors, ocspResponse: nil)
        #expect(failure(of: changed.evaluate())?.kind == .badSignature)
    }

    @Test func wildcardsStandForOneWholeLabel() async throws {
        let issued = try await TestAuthority.shared().issue { $0.alternativeNames = ["DNS:*.example.org"] }
        let trust = try await trust(issued, host: "a.example.org")
        #expect(failure(of: trust.evaluate()) == nil)
        for host in ["a.b.example.org", "example.org", ".example.org", "aexample.org"] {
            #expect(!trust.certificates[0].isValid(forHost: host), "\(host)")
        }
    }

    @Test func partOfALabelIsNoWildcard() async throws {
        let issued = try await TestAuthority.shared().issue { $0.alternativeNames = ["DNS:w*.example.org"] }
        let certificate = try Certificate.certificates(atPath: issued.certificate)[0]
        #expect(!certificate.isValid(forHost: "www.example.org"))
    }

    @Test func theSubjectIsNoHostName() async throws {
        let issued = try await TestAuthority.shared().issue { $0.alternativeNames = [] }
        #expect(failure(of: try await trust(issued).evaluate())?.kind == .wrongHost)
    }

    @Test func internationalNamesAreComparedInTheirEncodedForm() async throws {
        let issued = try await TestAuthority.shared().issue { $0.alternativeNames = ["DNS:xn--bcher-kva.example"] }
        let certificate = try Certificate.certificates(atPath: issued.certificate)[0]
        for host in ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example"] {
            #expect(certificate.isValid(forHost: host), "\(host)")
        }
        #expect(!certificate.isValid(forHost: "bucher.example"))
    }

    @Test func noCertificateIsNoTrust() async throws {
        let trust = ServerTrust(chain: [], host: "localhost", anchors: .system, ocspResponse: nil)
        #expect(failure(of: trust.evaluate())?.kind == .other)
        #expect(failure(of: trust.evaluate(validatesHost: false, validatesChain: false))?.kind == .other)
    }

    @Test func withoutTheChainOnlyTheHostCounts() async throws {
        let issued = try await TestAuthority.shared().issue {
            $0.signer = .itself
            $0.validUntil = 0
            $0.validFrom = -3
        }
        let trust = try await trust(issued)
        #expect(failure(of: trust.evaluate(validatesChain: false)) == nil)
        let other = try await self.trust(issued, host: "other")
        #expect(failure(of: other.evaluate(validatesChain: false))?.kind == .wrongHost)
    }

    @Test func aFailureIsATransferErrorThatIsNotTriedAgain() async throws {
        let issued = try await TestAuthority.shared().issue { $0.signer = .itself }
        let result = try await trust(issued).evaluate()
        let error = #expect(throws: TransferError.self) { try result.get() }
        #expect(error?.code == .certificateRefused)
        #expect(error?.isTransient == false)
        #expect(error?.cause == .certificate(18), "X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT")
    }

    @Test func theSystemsAuthoritiesAreReadOnce() {
        #expect(TrustAnchors.system === TrustAnchors.system)
        #expect(TrustAnchors.system.source?.hasPrefix("/") == true)
        #expect(TrustAnchors.system.certificates.count > 50)
    }

    @Test func manyThreadsVerifyWithTheSameAnchors() async throws {
        let issued = try await TestAuthority.shared().issue()
        let trust = try await trust(issued)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { self.failure(of: trust.evaluate()) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
    }
}
