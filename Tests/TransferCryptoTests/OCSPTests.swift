import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferCrypto

@Suite struct OCSPTests {
    private func certificate(_ path: String) throws -> Certificate { try Certificate.certificates(atPath: path)[0] }
    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func question(
        _ issued: TestAuthority.Issued, nonce: Bool = false
    ) async throws -> OCSPQuestion {
        let authority = try await TestAuthority.shared()
        return try OCSPQuestion(
            certificate: try certificate(issued.certificate),
            issuer: try certificate(authority.intermediate.certificate), usesNonce: nonce)
    }

    private func answer(
        about issued: TestAuthority.Issued, _ change: (inout TestAuthority.ResponderOrder) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let authority = try await TestAuthority.shared()
        var order = TestAuthority.ResponderOrder(good: [issued.serial])
        change(&order)
        return try bytes(try await authority.ocspAnswer(about: issued, order))
    }

    @Test func aGoodCertificateIsReportedWithItsValidity() async throws {
        let issued = try await TestAuthority.shared().issue()
        let now = UTCDate.now()
        let answer = try await question(issued).answer(try await answer(about: issued), at: now)
        #expect(answer.status == .good)
        #expect(abs(answer.thisUpdate - now) < 60)
        #expect(answer.nextUpdate.map { $0 - answer.thisUpdate } == 3_600)
    }

    @Test func aRevokedCertificateIsReportedWithTimeAndReason() async throws {
        let issued = try await TestAuthority.shared().issue()
        let response = try await answer(about: issued) {
            $0.good = []
            $0.revoked = [issued.serial]
        }
        let answer = try await question(issued).answer(response, at: UTCDate.now())
        guard case .revoked(let time, let reason) = answer.status else {
            Issue.record("\(answer)")
            return
        }
        #expect(abs(time - (UTCDate.now() - 3_600)) < 120)
        #expect(reason == "keyCompromise")
    }

    @Test func aCertificateThatTheResponderDoesNotKnowIsUnknown() async throws {
        let issued = try await TestAuthority.shared().issue()
        let response = try await answer(about: issued) { $0.good = [] }
        let answer = try await question(issued).answer(response, at: UTCDate.now())
        #expect(answer.status == .unknown)
    }

    @Test func anOldAnswerAndOneOfTheFutureAreRefused() async throws {
        let issued = try await TestAuthority.shared().issue()
        let (question, response) = (try await question(issued), try await answer(about: issued))
        let now = UTCDate.now()
        #expect(throws: Never.self) { try question.answer(response, at: now + 3_700) }
        let old = #expect(throws: TransferError.self) { try question.answer(response, at: now + 4_200) }
        #expect(old?.message.contains("is out of date") == true)
        let early = #expect(throws: TransferError.self) { try question.answer(response, at: now - 1_200) }
        #expect(early?.message.contains("is of the future") == true)
    }

    @Test func anAnswerWithoutAnEndHoldsForADay() async throws {
        let issued = try await TestAuthority.shared().issue()
        let response = try await answer(about: issued) { $0.minutes = nil }
        let question = try await question(issued)
        let answer = try question.answer(response, at: UTCDate.now() + 80_000)
        #expect(answer.nextUpdate == nil)
        #expect(throws: TransferError.self) { try question.answer(response, at: UTCDate.now() + 90_000) }
    }

    @Test func anAnswerAboutAnotherCertificateIsRefused() async throws {
        let authority = try await TestAuthority.shared()
        let (one, other) = (try await authority.issue(), try await authority.issue())
        let response = try await answer(about: other)
        let question = try await question(one)
        let error = #expect(throws: TransferError.self) { try question.answer(response, at: UTCDate.now()) }
        #expect(error?.message == "the OCSP answer is about another certificate")
    }

    @Test func theIssuersDelegateMaySign() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let delegate = try await authority.issue {
            $0.name = "delegate"
            $0.usage = "OCSPSigning"
        }
        let response = try await answer(about: issued) { $0.signer = delegate.pair }
        let answer = try await question(issued).answer(response, at: UTCDate.now())
        #expect(answer.status == .good)
    }

    @Test func noOtherSignerIsAccepted() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        // Signers: of the same authority without authorisation; of the authority above; of another authority with the
        // right use.
        let plain = try await authority.issue { $0.name = "plain" }
        let above = try await authority.issue {
            $0.usage = "OCSPSigning"
            $0.signer = .root
        }
        let strangers = try await TestAuthority.make(name: "Stranger")
        // The folder of the signer's files is removed with the authority.
        defer { withExtendedLifetime(strangers) {} }
        let stranger = try await strangers.issue { $0.usage = "OCSPSigning" }
        let expired = try await authority.issue {
            $0.usage = "OCSPSigning"
            $0.validFrom = -3
            $0.validUntil = -1
        }
        let question = try await question(issued)
        for signer in [plain.pair, above.pair, stranger.pair, expired.pair, authority.root] {
            let response = try await answer(about: issued) { $0.signer = signer }
            let error = #expect(throws: TransferError.self) { try question.answer(response, at: UTCDate.now()) }
            #expect(error?.message.contains("is not signed by CN=Test Intermediate,O=Test") == true, "\(signer)")
        }
    }

    @Test func aChangedAnswerIsRefused() async throws {
        let issued = try await TestAuthority.shared().issue()
        let response = try await answer(about: issued)
        let question = try await question(issued)
        // Each byte is altered in turn: no altered answer is accepted, and none ends the program.
        var accepted = 0
        for index in stride(from: 0, to: response.count, by: 7) {
            var changed = response
            changed[index] ^= 0x10
            if let answer = try? question.answer(changed, at: UTCDate.now()), answer.status != .good { accepted += 1 }
        }
        #expect(accepted == 0)
        #expect(throws: TransferError.self) { try question.answer([], at: 0) }
        #expect(throws: TransferError.self) { try question.answer(Array(response.dropLast(9)), at: UTCDate.now()) }
        // RFC 6960 §4.2.1: an OCSPResponse with the status tryLater.
        let error = #expect(throws: TransferError.self) { try question.answer([0x30, 3, 10, 1, 3], at: UTCDate.now()) }
        #expect(error?.message == "the OCSP responder answers trylater")
    }

    @Test func aNonceOfAnotherRequestIsRefusedAndAMissingOneIsNot() async throws {
        let issued = try await TestAuthority.shared().issue()
        let (one, other) = (try await question(issued, nonce: true), try await question(issued, nonce: true))
        #expect(one.der != other.der)
        let without = try await answer(about: issued)
        #expect(throws: Never.self) { try one.answer(without, at: UTCDate.now()) }
        let authority = try await TestAuthority.shared()
        let responder = try await authority.startResponder(TestAuthority.ResponderOrder(good: [issued.serial]))
        var request = URLRequest.post(responder.url)
        request.body = one.der
        let response = try await request.send()
        #expect(throws: Never.self) { try one.answer(response, at: UTCDate.now()) }
        let error = #expect(throws: TransferError.self) { try other.answer(response, at: UTCDate.now()) }
        #expect(error?.message == "the OCSP answer was made for another request")
    }

    @Test func theURLForGETHasTheRequestEscaped() async throws {
        let issued = try await TestAuthority.shared().issue()
        let question = try await question(issued)
        let url = try #require(question.url(at: "http://ocsp.example/a"))
        #expect(url.hasPrefix("http://ocsp.example/a/"))
        let last = url.dropFirst("http://ocsp.example/a/".count)
        #expect(!last.contains("/") && !last.contains("+") && !last.contains("="))
        let decoded = last.removingPercentEncoding.flatMap { Data(base64Encoded: $0) }
        #expect(decoded.map { [UInt8]($0) } == question.der)
        #expect(question.url(at: "http://ocsp.example/a/") == url)
        #expect(question.url(at: "http://ocsp.example/?a") == nil)
    }

    @Test func certificatesNameRespondersAndLists() async throws {
        let issued = try await TestAuthority.shared().issue {
            $0.ocspURL = "http://ocsp.example/"
            $0.extensions = [
                "crlDistributionPoints=URI:http://a.example/1,URI:ldap://b.example/,URI:https://c.example/"
            ]
        }
        let certificate = try certificate(issued.certificate)
        #expect(certificate.responderURLs == ["http://ocsp.example/"])
        #expect(certificate.revocationListURLs == ["http://a.example/1"])
        let other = try self.certificate(try await TestAuthority.shared().root.certificate)
        #expect(other.responderURLs.isEmpty && other.revocationListURLs.isEmpty)
    }

    // MARK: Lists

    private func list(_ revoked: [String], of signer: TestAuthority.Signer = .intermediate) async throws
        -> RevocationList
    {
        try RevocationList(
            path: try await TestAuthority.shared().revocationList(of: signer, revoked: revoked))
    }

    @Test func aListHasTheRevokedOnes() async throws {
        let authority = try await TestAuthority.shared()
        let (good, bad) = (try await authority.issue(), try await authority.issue())
        let list = try await list([bad.serial])
        let issuer = try certificate(authority.intermediate.certificate)
        let now = UTCDate.now()
        let goodAnswer = try list.answer(about: certificate(good.certificate), issuer: issuer, at: now)
        #expect(goodAnswer.status == .good)
        #expect(goodAnswer.nextUpdate.map { $0 - goodAnswer.thisUpdate } == 86_400)
        let badAnswer = try list.answer(about: certificate(bad.certificate), issuer: issuer, at: now)
        guard case .revoked(let time, let reason) = badAnswer.status else {
            Issue.record("\(badAnswer)")
            return
        }
        #expect(abs(time - (now - 3_600)) < 120)
        #expect(reason == "keyCompromise")
        #expect(list.issuer == "CN=Test Intermediate,O=Test")
        #expect("\(list)" == "revocation list of CN=Test Intermediate,O=Test")
    }

    @Test func anOldListOrAnotherAuthoritysSaysNothing() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let issuer = try certificate(authority.intermediate.certificate)
        let certificate = try certificate(issued.certificate)
        let list = try await list([])
        let old = #expect(throws: TransferError.self) {
            try list.answer(about: certificate, issuer: issuer, at: UTCDate.now() + 100_000)
        }
        #expect(old?.message.contains("CRL has expired") == true)
        let roots = try await self.list([issued.serial], of: .root)
        #expect(throws: TransferError.self) {
            try roots.answer(about: certificate, issuer: issuer, at: UTCDate.now())
        }
        // An authority of the same name with another key.
        let namesake = try await TestAuthority.make()
        defer { withExtendedLifetime(namesake) {} }
        let forged = try RevocationList(path: try await namesake.revocationList(revoked: [issued.serial]))
        #expect(throws: TransferError.self) {
            try forged.answer(about: certificate, issuer: issuer, at: UTCDate.now())
        }
    }

    @Test func anExpiredCertificatesStatusIsStillFound() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue {
            $0.validFrom = -3
            $0.validUntil = -1
        }
        let issuer = try certificate(authority.intermediate.certificate)
        let (good, bad) = (try await list([]), try await list([issued.serial]))
        let certificate = try certificate(issued.certificate)
        let goodAnswer = try good.answer(about: certificate, issuer: issuer, at: UTCDate.now())
        #expect(goodAnswer.status == .good)
        let badAnswer = try bad.answer(about: certificate, issuer: issuer, at: UTCDate.now())
        #expect(badAnswer.status != .good)
    }

    @Test func listsComeAsPEMToo() async throws {
        let path = try await TestAuthority.shared().revocationList(revoked: [])
        let pem = try RevocationList(path: path.replacing(".der", with: ".pem"))
        #expect(pem == (try RevocationList(path: path)))
        #expect(throws: TransferError.self) { try RevocationList(pemOrDER: [1, 2, 3]) }
    }
}

/// A POST by curl's command, since this target has no client of its own.
private struct URLRequest {
    let url: String
    var body: [UInt8] = []

    static func post(_ url: String) -> URLRequest { URLRequest(url: url) }

    func send() async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let (sent, received) = (try folder.write(Data(body), to: "sent"), folder.path("received"))
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/curl",
                [
                    "-sS", "--noproxy", "*", "--max-time", "20", "-H", "Content-Type: application/ocsp-request",
                    "--data-binary", "@\(sent)", "-o", received, url,
                ])
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError(result.standardError) }
        return [UInt8](try folder.data("received"))
    }
}
