import Foundation
import Testing
import TransferCrypto
import TransferTestSupport

@testable import TransferNetworking

/// The functions of Apple's Security framework that pinning code calls.
@Suite("Functions that pinning code calls")
struct PinningFunctionTests {
    @Test func aCertificateIsMadeOfItsBytesAndGivesThemBack() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let data = trust.af.certificateData[0]
        let made = try #require(SecCertificateCreateWithData(nil, data as CFData))
        #expect(made == trust.certificates[0])
        #expect(SecCertificateCreateWithData(kCFAllocatorDefault, NSData(data: data)) == made)
        #expect(SecCertificateCopyData(made) as Data == data)
        #expect(SecCertificateCopyKey(made) == made.publicKey)
        #expect(SecCertificateCreateWithData(nil, Data("none".utf8) as CFData) == nil)
    }

    @Test func aKeyIsGivenWithoutItsAlgorithm() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let key = try #require(SecTrustCopyKey(trust))
        var error: CFError?
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, &error) as Data?)
        #expect(error == nil && !bytes.isEmpty)
        // The bit string is what the SubjectPublicKeyInfo ends with.
        #expect(key.der.count > bytes.count && key.der.suffix(bytes.count) == [UInt8](bytes))
    }

    /// Pinning code puts the head of the algorithm and the size before the key, and compares the digest of both.
    @Test func theAttributesOfAKeyChooseTheHeadOfItsForm() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue())
        let key = try #require(SecTrustCopyKey(trust))
        let attributes = try #require(SecKeyCopyAttributes(key))
        #expect(attributes[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom as String)
        #expect(attributes[kSecAttrKeySizeInBits] as? Int == 256)
        // The head of a key on P-256 (RFC 5480).
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        #expect(head + [UInt8](try #require(SecKeyCopyExternalRepresentation(key, nil))) == key.der)
    }

    @Test func aPolicyThatIsAppliedHoldsForEachEvaluation() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue(), host: "127.0.0.1")
        #expect(throws: Never.self) { try trust.af.evaluate() }
        let same = try trust.af.apply(policy: SecPolicyCreateSSL(true, "elsewhere" as CFString))
        #expect(same === trust)
        #expect(throws: AFError.self) { try trust.af.evaluate() }
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateBasicX509()).af.isSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(!SecTrustSetPolicies(trust, []).af.isSuccess)
    }

    @Test func theAuthoritiesThatAreSetAreTheOnlyOnesUnlessOthersAreAdded() async throws {
        let trust = try await makeTrust(try await TestAuthority.shared().issue(), host: "127.0.0.1")
        let other = try await TestAuthority.shared().issue { $0.signer = .itself }
        let anchor = try certificate(other.certificate)
        try trust.af.setAnchorCertificates([anchor])
        #expect(throws: AFError.self) { try trust.af.evaluate() }
        SecTrustSetAnchorCertificatesOnly(trust, false)
        #expect(throws: Never.self) { try trust.af.evaluate() }
        SecTrustSetAnchorCertificatesOnly(trust, true)
        SecTrustSetAnchorCertificates(trust, nil)
        #expect(throws: Never.self) { try trust.af.evaluate() }
        // A server's own certificate may be the authority.
        let own = try await makeTrust(other, host: "127.0.0.1")
        #expect(throws: AFError.self) { try own.af.evaluate() }
        try own.af.setAnchorCertificates([anchor])
        #expect(throws: Never.self) { try own.af.evaluate() }
    }

    @Test func aFailedValidationNamesItsError() async throws {
        struct Refused: Error, Equatable { let result: SecTrustResultType }
        let trust = try await makeTrust(try await TestAuthority.shared().issue(), host: "127.0.0.1")
        try trust.af.validate { _, result in Refused(result: result) }
        #expect(throws: Refused(result: .recoverableTrustFailure)) {
            try trust.af.validate(policy: SecPolicy.af.hostname("elsewhere")) { status, result in
                #expect(!status.af.isSuccess && !result.af.isSuccess)
                return Refused(result: result)
            }
        }
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess)
        #expect(result == .recoverableTrustFailure)
    }

    @Test func aTrustCanBeMadeForTests() async throws {
        let served = try await makeTrust(try await TestAuthority.shared().issue())
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, "127.0.0.1" as CFString)
        let status = SecTrustCreateWithCertificates(served.certificates as CFArray, policy, &trust)
        let made = try #require(trust)
        #expect(status == errSecSuccess)
        #expect(SecTrustGetCertificateCount(made) == served.certificates.count)
        #expect(SecTrustGetCertificateAtIndex(made, 0) == served.certificates[0])
        #expect(SecTrustGetCertificateAtIndex(made, 9) == nil)
        #expect(SecTrustCopyCertificateChain(made) as? [SecCertificate] == served.certificates)
        // The system does not trust the test's authority.
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(made, &error))
        #expect((error as? TrustFailure)?.kind == .unknownAuthority)
        #expect(SecTrustCreateWithCertificates([], nil, &trust) == errSecParam)
    }

    @Test(arguments: [
        (TrustFailure.Kind.expired, SecTrustResultType.recoverableTrustFailure),
        (.notYetValid, .recoverableTrustFailure), (.wrongHost, .recoverableTrustFailure),
        (.unknownAuthority, .recoverableTrustFailure), (.selfSigned, .recoverableTrustFailure),
        (.revoked, .fatalTrustFailure), (.badSignature, .fatalTrustFailure), (.other, .recoverableTrustFailure),
    ])
    func eachKindOfFailureHasItsResult(_ kind: TrustFailure.Kind, _ result: SecTrustResultType) {
        #expect(SecTrustResultType(TrustFailure(kind, "why")) == result)
        #expect(SecTrustResultType(nil) == .unspecified)
    }
}
