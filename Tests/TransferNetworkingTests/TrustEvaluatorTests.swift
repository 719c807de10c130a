import Foundation
import Testing
import TransferCore
import TransferCrypto
import TransferTestSupport

@testable import TransferNetworking

@Suite struct TrustEvaluatorTests {
    // MARK: Default

    @Test func theDefaultTrustsAGoodChain() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let refusal = try DefaultTrustEvaluator().refusal(of: trust)
        #expect(refusal == nil)
        #expect(throws: Never.self) { try trust.af.evaluate() }
    }

    @Test(arguments: [
        ("expired", TrustFailure.Kind.expired), ("early", .notYetValid), ("itself", .selfSigned),
        ("short", .unknownAuthority), ("client", .other),
    ])
    func theDefaultReportsTheFaultOfTheChain(_ fault: String, _ kind: TrustFailure.Kind) async throws {
        let issued = try await TestAuthority.shared().issue { order in
            switch fault {
            case "expired": (order.validFrom, order.validUntil) = (-3, -1)
            case "early": order.validFrom = 1
            case "itself": order.signer = .itself
            case "short": order.sendsIntermediate = false
            default: order.usage = "clientAuth"
            }
        }
        let trust = try await makeTrust(issued)
        for evaluator in [DefaultTrustEvaluator(), DefaultTrustEvaluator(validateHost: false)] {
            let refusal = try evaluator.refusal(of: trust)
            #expect(refusal?.label == "trustEvaluationFailed")
            #expect(refusal?.failure?.kind == kind)
        }
    }

    @Test func theDefaultRefusesAnotherHostUnlessDisabled() async throws {
        let issued = try await TestAuthority.shared().issue { $0.alternativeNames = ["DNS:other.example"] }
        let trust = try await makeTrust(issued)
        let refusal = try DefaultTrustEvaluator().refusal(of: trust)
        #expect(refusal?.label == "trustEvaluationFailed")
        #expect(refusal?.failure?.kind == .wrongHost)
        let without = try DefaultTrustEvaluator(validateHost: false).refusal(of: trust)
        #expect(without == nil)
        let named = try DefaultTrustEvaluator().refusal(of: trust, host: "other.example")
        #expect(named == nil)
    }

    @Test func theUnderlyingErrorIsOneThatIsNotTriedAgain() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue { $0.signer = .itself })
        let error = #expect(throws: AFError.self) {
            try DefaultTrustEvaluator().evaluate(trust, forHost: "localhost")
        }
        #expect(error?.isServerTrustEvaluationError == true)
        let underlying = error?.underlyingError as? TransferError
        #expect(underlying?.code == .certificateRefused)
        #expect(error?.localizedDescription.contains("signed itself") == true)
    }

    // MARK: Pinned certificates

    @Test(arguments: ["leaf", "intermediate", "root"])
    func aPinMayBeAnyCertificateOfTheChain(which: String) async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let paths = [
            "leaf": issued.certificate, "intermediate": authority.intermediate.certificate,
            "root": authority.root.certificate,
        ]
        let pin = try certificate(try #require(paths[which]))
        let evaluator = PinnedCertificatesTrustEvaluator(certificates: [pin])
        let refusal = try evaluator.refusal(of: try await makeTrust(issued))
        #expect(refusal == nil)
    }

    @Test func aWrongPinIsReportedWithBothSides() async throws {
        let authority = try await TestAuthority.shared()
        let (issued, other) = (try await authority.issue(), try await authority.issue())
        let pin = try certificate(other.certificate)
        let trust = try await makeTrust(issued)
        let refusal = try PinnedCertificatesTrustEvaluator(certificates: [pin]).refusal(of: trust)
        guard case .certificatePinningFailed(let host, let judged, let pinned, let server) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(host == "localhost" && judged === trust && pinned == [pin])
        #expect(server.map(\.subject) == ["CN=localhost", "CN=Test Intermediate,O=Test", "CN=Test Root,O=Test"])
    }

    @Test func withoutPinsEveryServerIsRefused() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let certificates = try PinnedCertificatesTrustEvaluator(certificates: []).refusal(of: trust)
        guard case .noCertificatesFound = certificates else {
            Issue.record("\(String(describing: certificates))")
            return
        }
        let keys = try PublicKeysTrustEvaluator(keys: []).refusal(of: trust)
        guard case .noPublicKeysFound = keys else {
            Issue.record("\(String(describing: keys))")
            return
        }
    }

    @Test func aSelfSignedPinIsTrustedWhereThatIsAsked() async throws {
        let issued = try await TestAuthority.shared().issue { $0.signer = .itself }
        let (trust, pin) = (try await makeTrust(issued), try certificate(issued.certificate))
        let strict = try PinnedCertificatesTrustEvaluator(certificates: [pin]).refusal(of: trust)
        #expect(strict?.failure?.kind == .selfSigned)
        let evaluator = PinnedCertificatesTrustEvaluator(certificates: [pin], acceptSelfSignedCertificates: true)
        let refusal = try evaluator.refusal(of: trust)
        #expect(refusal == nil)
        let otherHost = try evaluator.refusal(of: trust, host: "elsewhere")
        #expect(otherHost?.label == "trustEvaluationFailed")
    }

    @Test func anExpiredSelfSignedPinIsStillRefused() async throws {
        let issued = try await TestAuthority.shared().issue {
            $0.signer = .itself
            ($0.validFrom, $0.validUntil) = (-3, -1)
        }
        let (trust, pin) = (try await makeTrust(issued), try certificate(issued.certificate))
        let refusal = try PinnedCertificatesTrustEvaluator(certificates: [pin], acceptSelfSignedCertificates: true)
            .refusal(of: trust)
        #expect(refusal?.failure?.kind == .expired)
        let lax = PinnedCertificatesTrustEvaluator(
            certificates: [pin], acceptSelfSignedCertificates: true, performDefaultValidation: false)
        #expect(try lax.refusal(of: trust) == nil)
    }

    @Test func acceptingSelfSignedOnesLeavesNoOtherAuthority() async throws {
        let authority = try await TestAuthority.shared()
        let (issued, own) = (try await authority.issue(), try await authority.issue { $0.signer = .itself })
        let pin = try certificate(own.certificate)
        let refusal = try PinnedCertificatesTrustEvaluator(certificates: [pin], acceptSelfSignedCertificates: true)
            .refusal(of: try await makeTrust(issued))
        #expect(refusal?.failure?.kind == .unknownAuthority)
    }

    @Test func aPinThatWasMerelySentAlongDoesNotCount() async throws {
        let authority = try await TestAuthority.shared()
        let (issued, pinned) = (try await authority.issue(), try await authority.issue())
        let pin = try certificate(pinned.certificate)
        let sent = try await makeTrust(issued)
        let trust = ServerTrust(
            chain: sent.certificates + [pin], host: "localhost", anchors: sent.anchors, ocspResponse: nil)
        for validates in [true, false] {
            let byCertificate = PinnedCertificatesTrustEvaluator(
                certificates: [pin], performDefaultValidation: validates)
            let byKey = PublicKeysTrustEvaluator(keys: [pin.publicKey], performDefaultValidation: validates)
            #expect(try byCertificate.refusal(of: trust)?.label == "certificatePinningFailed")
            #expect(try byKey.refusal(of: trust)?.label == "publicKeyPinningFailed")
        }
        #expect(trust.signedChain == sent.certificates)
    }

    @Test func withoutValidationThePinAndTheHostStillCount() async throws {
        let authority = try await TestAuthority.make(name: "Unknown")
        defer { withExtendedLifetime(authority) {} }
        let issued = try await authority.issue { ($0.validFrom, $0.validUntil) = (-3, -1) }
        let trust = try await makeTrust(issued)
        let pin = try certificate(authority.intermediate.certificate)
        let evaluator = PinnedCertificatesTrustEvaluator(certificates: [pin], performDefaultValidation: false)
        #expect(try evaluator.refusal(of: trust) == nil)
        #expect(try evaluator.refusal(of: trust, host: "elsewhere")?.label == "trustEvaluationFailed")
        let anyHost = PinnedCertificatesTrustEvaluator(
            certificates: [pin], performDefaultValidation: false, validateHost: false)
        #expect(try anyHost.refusal(of: trust, host: "elsewhere") == nil)
        let strict = PinnedCertificatesTrustEvaluator(certificates: [pin])
        #expect(try strict.refusal(of: trust)?.label == "trustEvaluationFailed")
    }

    // MARK: Public keys

    @Test func aPinnedKeyOutlivesItsCertificate() async throws {
        let authority = try await TestAuthority.shared()
        let old = try await authority.issue()
        let renewed = try await authority.issue { $0.key = old.key }
        let pin = try certificate(old.certificate)
        let trust = try await makeTrust(renewed)
        #expect(try PublicKeysTrustEvaluator(keys: [pin.publicKey]).refusal(of: trust) == nil)
        let byCertificate = PinnedCertificatesTrustEvaluator(certificates: [pin])
        #expect(try byCertificate.refusal(of: trust)?.label == "certificatePinningFailed")
    }

    @Test func aKeyMayBeAnyOfTheChain() async throws {
        let authority = try await TestAuthority.shared()
        let trust = try await makeTrust(try await authority.issue())
        for path in [authority.intermediate.certificate, authority.root.certificate] {
            let key = try certificate(path).publicKey
            #expect(try PublicKeysTrustEvaluator(keys: [key]).refusal(of: trust) == nil)
        }
    }

    @Test func aWrongKeyIsReportedWithBothSides() async throws {
        let authority = try await TestAuthority.shared()
        let trust = try await makeTrust(try await authority.issue())
        let key = try certificate(try await authority.issue().certificate).publicKey
        let refusal = try PublicKeysTrustEvaluator(keys: [key]).refusal(of: trust)
        guard case .publicKeyPinningFailed(let host, _, let pinned, let server) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(host == "localhost" && pinned == [key] && server.count == 3)
    }

    @Test func keysDoNotReplaceTheAuthorityUnlessAsked() async throws {
        let issued = try await TestAuthority.shared().issue { $0.signer = .itself }
        let (trust, key) = (try await makeTrust(issued), try certificate(issued.certificate).publicKey)
        #expect(try PublicKeysTrustEvaluator(keys: [key]).refusal(of: trust)?.failure?.kind == .selfSigned)
        let lax = PublicKeysTrustEvaluator(keys: [key], performDefaultValidation: false)
        #expect(try lax.refusal(of: trust) == nil)
        #expect(try lax.refusal(of: trust, host: "elsewhere")?.label == "trustEvaluationFailed")
        let anyHost = PublicKeysTrustEvaluator(keys: [key], performDefaultValidation: false, validateHost: false)
        #expect(try anyHost.refusal(of: trust, host: "elsewhere") == nil)
    }

    // MARK: Others

    @Test func ofSeveralNoneMayRefuse() async throws {
        let authority = try await TestAuthority.shared()
        let trust = try await makeTrust(try await authority.issue())
        let key = try certificate(authority.root.certificate).publicKey
        let wrong = try certificate(try await authority.issue().certificate)
        let good: [any ServerTrustEvaluating] = [.default, .publicKeys(keys: [key])]
        #expect(try CompositeTrustEvaluator(evaluators: good).refusal(of: trust) == nil)
        let bad: [any ServerTrustEvaluating] = good + [.pinnedCertificates(certificates: [wrong])]
        let refusal = try CompositeTrustEvaluator(evaluators: bad).refusal(of: trust)
        #expect(refusal?.label == "certificatePinningFailed")
        #expect(throws: AFError.self) { try bad.evaluate(trust, forHost: "localhost") }
        #expect(try CompositeTrustEvaluator(evaluators: []).refusal(of: trust) == nil)
    }

    @Test func theDisabledOneTrustsAnything() async throws {
        let trust = ServerTrust(chain: [], host: "", anchors: .system, ocspResponse: nil)
        #expect(throws: Never.self) { try DisabledTrustEvaluator().evaluate(trust, forHost: "anything") }
        #expect(throws: Never.self) { try DisabledEvaluator().evaluate(trust, forHost: "anything") }
    }

    @Test func factoriesHaveTheDocumentedDefaults() async throws {
        let authority = try await TestAuthority.shared()
        let other = try await authority.issue { $0.alternativeNames = ["DNS:other.example"] }
        let trust = try await makeTrust(other)
        let key = try certificate(authority.root.certificate).publicKey
        let pin = try certificate(authority.root.certificate)
        let strict: [any ServerTrustEvaluating] = [
            .default, .revocationChecking, .pinnedCertificates(certificates: [pin]), .publicKeys(keys: [key]),
            .composite(evaluators: [.default]),
        ]
        for evaluator in strict { #expect(try evaluator.refusal(of: trust)?.label == "trustEvaluationFailed") }
        let lax: [any ServerTrustEvaluating] = [
            .default(validateHost: false), .revocationChecking(validateHost: false),
            .pinnedCertificates(certificates: [pin], validateHost: false),
            .publicKeys(keys: [key], validateHost: false),
        ]
        for evaluator in lax { #expect(try evaluator.refusal(of: trust) == nil) }
        // The test runner has no certificates beside it.
        #expect(try PinnedCertificatesTrustEvaluator.pinnedCertificates.refusal(of: trust)?.label != nil)
        #expect(try PublicKeysTrustEvaluator.publicKeys.refusal(of: trust)?.label != nil)
    }

    @Test func customEvaluatorsCanUsePolicies() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        #expect(throws: Never.self) { try trust.af.evaluate(afterApplying: SecPolicy.af.default) }
        #expect(throws: Never.self) { try trust.af.evaluate(afterApplying: SecPolicy.af.hostname("127.0.0.1")) }
        let revocation = try SecPolicy.af.revocation(options: [.crl, .networkAccessDisabled])
        #expect(throws: Never.self) { try trust.af.evaluate(afterApplying: revocation) }
        let error = #expect(throws: AFError.self) {
            try trust.af.evaluate(afterApplying: SecPolicy.af.hostname("elsewhere"))
        }
        guard case .serverTrustEvaluationFailed(.trustEvaluationFailed(let cause as TrustFailure)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.description.contains("not for elsewhere"))
        let none = #expect(throws: AFError.self) { try SecPolicy.af.revocation(options: [.preferCRL]) }
        guard case .serverTrustEvaluationFailed(.revocationPolicyCreationFailed) = none else {
            Issue.record("\(String(describing: none))")
            return
        }
    }

    @Test func aTrustGivesItsParts() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        #expect(trust.af.certificates == trust.certificates)
        #expect(trust.af.certificateData == trust.certificates.map { Data($0.der) })
        #expect(trust.af.publicKeys == trust.certificates.map(\.publicKey))
        #expect(trust.certificates[0].af.publicKey == trust.af.publicKeys[0])
    }

    // MARK: Bundles

    @Test func aBundlesResourcesArePinned() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let folder = try TemporaryFolder()
        func copy(_ path: String, _ name: String) throws {
            try folder.write(try Data(contentsOf: URL(fileURLWithPath: path)), to: "Pins.resources/\(name)")
        }
        try copy(try await authority.der(authority.root.certificate), "root.der")
        try copy(authority.intermediate.certificate, "intermediate.CRT")
        try copy(authority.intermediate.certificate, "again.pem")
        try copy(issued.key, "key.pem")
        try copy(try await authority.publicKey(issued.certificate), "leaf.pub")
        try folder.write("damaged", to: "Pins.resources/damaged.cer")
        try folder.write("text", to: "Pins.resources/read.me")
        let bundle = try #require(Bundle(path: folder.path("Pins.resources")))
        let names = bundle.af.certificates.map(\.subject).sorted()
        #expect(names == ["CN=Test Intermediate,O=Test", "CN=Test Root,O=Test"])
        #expect(bundle.af.publicKeys.count == 3)
        let paths = bundle.af.paths(forResourcesOfTypes: ["pem", "me"]).map { $0.split(separator: "/").last ?? "" }
        #expect(paths.sorted() == ["again.pem", "key.pem", "read.me"])
        let trust = try await makeTrust(issued)
        #expect(
            try PinnedCertificatesTrustEvaluator(certificates: bundle.af.certificates).refusal(of: trust) == nil)
        #expect(try PublicKeysTrustEvaluator(keys: bundle.af.publicKeys).refusal(of: trust) == nil)
    }
}
