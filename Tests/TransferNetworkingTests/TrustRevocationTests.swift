import Foundation
import Synchronization
import Testing
import TransferCrypto
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Revocation against OpenSSL's own responder, and lists from a server.
@Suite struct TrustRevocationTests {
    typealias Options = RevocationTrustEvaluator.Options

    /// Returns an evaluator with its own cache, so that tests do not share answers.
    private func evaluator(
        _ options: Options = .any, sources: RevocationSources = RevocationSources(),
        cache: RevocationCache = RevocationCache(), later: Int64 = 0
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(options: options, sources: sources, cache: cache) {
            Int64(Date().timeIntervalSince1970) + later
        }
    }

    private func responder(
        good: [String] = [], revoked: [String] = [], signer: TestAuthority.Pair? = nil
    ) async throws -> OCSPResponder {
        var order = TestAuthority.ResponderOrder(good: good, revoked: revoked)
        order.signer = signer
        return try await TestAuthority.shared().startResponder(order)
    }

    private func issue(
        serial: String? = nil, ocsp: String? = nil, list: String? = nil
    ) async throws -> TestAuthority.Issued {
        try await TestAuthority.shared().issue {
            $0.serial = serial
            $0.ocspURL = ocsp
            $0.listURL = list
        }
    }

    /// `evaluate` blocks, and a thread of the tests must not block.
    private func refusal(
        _ evaluator: RevocationTrustEvaluator, _ trust: SecTrust
    ) async throws -> AFError.ServerTrustFailureReason? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try evaluator.refusal(of: trust) }) }
        }
    }

    // MARK: OCSP asked for

    @Test func aRespondersWordCounts() async throws {
        let (good, bad) = (TestAuthority.newSerial(), TestAuthority.newSerial())
        let responder = try await responder(good: [good], revoked: [bad])
        let goodTrust = try await makeTrust(try await issue(serial: good, ocsp: responder.url))
        let accepted = try await refusal(evaluator([.ocsp, .requirePositiveResponse]), goodTrust)
        #expect(accepted == nil)
        let badTrust = try await makeTrust(try await issue(serial: bad, ocsp: responder.url))
        for options in [Options.any, .ocsp, [.ocsp, .requirePositiveResponse]] {
            let refused = try await refusal(evaluator(options), badTrust)
            #expect(refused?.label == "trustEvaluationFailed")
            #expect(refused?.failure?.kind == .revoked)
            #expect(refused?.failure?.description.hasPrefix("the certificate of CN=localhost was revoked on ") == true)
            #expect(refused?.failure?.description.hasSuffix("(keyCompromise)") == true)
        }
        // Only lists are to be checked, and there is none.
        let lists = try await refusal(evaluator(.crl), badTrust)
        #expect(lists == nil)
    }

    @Test func aNonceMakesNoDifferenceToAResponderThatKnowsIt() async throws {
        let serial = TestAuthority.newSerial()
        let responder = try await responder(good: [serial])
        var sources = RevocationSources()
        sources.usesNonce = true
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        let refused = try await refusal(evaluator([.ocsp, .requirePositiveResponse], sources: sources), trust)
        #expect(refused == nil)
    }

    @Test func aDeadResponderIsPassedOverUnlessAnAnswerIsRequired() async throws {
        let serial = TestAuthority.newSerial()
        let responder = try await responder(good: [serial])
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        await responder.stop()
        let soft = try await refusal(evaluator(), trust)
        #expect(soft == nil)
        let hard = try await refusal(evaluator([.ocsp, .requirePositiveResponse]), trust)
        #expect(hard?.label == "trustEvaluationFailed")
        #expect(hard?.failure?.kind == .other)
        #expect(hard?.failure?.description.contains(responder.url) == true)
    }

    @Test func aResponderThatDoesNotKnowTheCertificateGivesNoPositiveAnswer() async throws {
        let responder = try await responder()
        let trust = try await makeTrust(try await issue(ocsp: responder.url))
        let soft = try await refusal(evaluator(), trust)
        #expect(soft == nil)
        let hard = try await refusal(evaluator(.requirePositiveResponse), trust)
        #expect(hard?.failure?.description.contains("does not know it") == true)
    }

    @Test func aLyingResponderIsNoResponder() async throws {
        let serial = TestAuthority.newSerial()
        let authority = try await TestAuthority.shared()
        let plain = try await authority.issue { $0.name = "plain" }
        // The responder answers "good" without any authority to do so.
        let responder = try await responder(good: [serial], signer: plain.pair)
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        let hard = try await refusal(evaluator([.ocsp, .requirePositiveResponse]), trust)
        #expect(hard?.failure?.description.contains("is not signed by CN=Test Intermediate,O=Test") == true)
    }

    @Test func aDelegatesWordCounts() async throws {
        let serial = TestAuthority.newSerial()
        let delegate = try await TestAuthority.shared().issue { $0.usage = "OCSPSigning" }
        let responder = try await responder(revoked: [serial], signer: delegate.pair)
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        let refused = try await refusal(evaluator(), trust)
        #expect(refused?.failure?.kind == .revoked)
    }

    @Test func anAnswerThatIsOutOfDateIsNoAnswer() async throws {
        let serial = TestAuthority.newSerial()
        let responder = try await responder(good: [serial])
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        let refused = try await refusal(evaluator([.ocsp, .requirePositiveResponse], later: 36_000), trust)
        #expect(refused?.failure?.description.contains("is out of date") == true)
    }

    @Test func anAnswerForAnotherSerialNumberIsNoAnswer() async throws {
        let authority = try await TestAuthority.shared()
        let other = try await authority.issue()
        let answer = try Data(
            contentsOf: URL(
                fileURLWithPath: try await authority.ocspAnswer(
                    about: other, TestAuthority.ResponderOrder(good: [other.serial]))))
        try await withTestServer { server async throws in
            server.handle(nil, "/*") { _ in Response(body: .bytes([UInt8](answer))) }
            let trust = try await makeTrust(try await issue(ocsp: server.url("/ocsp")))
            let refused = try await refusal(evaluator([.ocsp, .requirePositiveResponse]), trust)
            #expect(refused?.failure?.description.contains("is about another certificate") == true)
        }
    }

    @Test func answersAreKeptUntilThereIsANewerOne() async throws {
        let serial = TestAuthority.newSerial()
        let responder = try await responder(good: [serial])
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        let cache = RevocationCache()
        let options: Options = [.ocsp, .requirePositiveResponse]
        let first = try await refusal(evaluator(options, cache: cache), trust)
        #expect(first == nil)
        await responder.stop()
        let kept = try await refusal(evaluator(options, cache: cache), trust)
        #expect(kept == nil)
        let offline = try await refusal(evaluator(options.union(.networkAccessDisabled), cache: cache), trust)
        #expect(offline == nil)
        let later = try await refusal(evaluator(options, cache: cache, later: 3_700), trust)
        #expect(later?.label == "trustEvaluationFailed")
    }

    @Test func aCertificateIsAskedAboutWithGETAndOnlyOnce() async throws {
        let authority = try await TestAuthority.shared()
        try await withTestServer { server async throws in
            let issued = try await issue(ocsp: server.url("/ocsp"))
            let path = try await authority.ocspAnswer(
                about: issued, TestAuthority.ResponderOrder(good: [issued.serial]))
            let answer = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            server.handle("GET", "/ocsp/*") { _ in Response(body: .bytes(answer)) }
            let (cache, trust) = (RevocationCache(), try await makeTrust(issued))
            for _ in 0..<2 {
                let refused = try await refusal(evaluator([.ocsp, .requirePositiveResponse], cache: cache), trust)
                #expect(refused == nil)
            }
            #expect(server.requests.map(\.method) == ["GET"])
        }
    }

    @Test func aResponderWithoutGETIsAskedWithPOST() async throws {
        let authority = try await TestAuthority.shared()
        let issuedFirst = TestAuthority.newSerial()
        try await withTestServer { server async throws in
            let issued = try await issue(serial: issuedFirst, ocsp: server.url("/ocsp"))
            let path = try await authority.ocspAnswer(
                about: issued, TestAuthority.ResponderOrder(good: [issued.serial]))
            let answer = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            server.handle("GET", "/ocsp*") { _ in Response(status: 405) }
            server.handle("POST", "/ocsp") { _ in Response(body: .bytes(answer)) }
            let refused = try await refusal(evaluator([.ocsp, .requirePositiveResponse]), try await makeTrust(issued))
            #expect(refused == nil)
            let post = server.requests.first { $0.method == "POST" }
            #expect(post?.headers["Content-Type"] == "application/ocsp-request")
        }
    }

    @Test func aResponderThatNeverAnswersCostsNoMoreThanItsTime() async throws {
        let listener = try SilentListener()
        let url = listener.url
        var sources = RevocationSources()
        #expect(sources.timeout == .seconds(5))
        sources.timeout = .milliseconds(300)
        let trust = try await makeTrust(try await issue(ocsp: url, list: "\(url)/list"))
        let start = ContinuousClock.now
        let soft = try await refusal(evaluator(sources: sources), trust)
        #expect(soft == nil)
        let hard = try await refusal(evaluator(.requirePositiveResponse, sources: sources), trust)
        #expect(hard?.label == "trustEvaluationFailed")
        // Two timeouts of 300 ms plus the delay of a busy machine, but less than two default timeouts.
        #expect(ContinuousClock.now - start < .seconds(8))
    }

    // MARK: Stapled

    @Test func aStapledAnswerNeedsNoNetwork() async throws {
        let authority = try await TestAuthority.shared()
        let (good, bad) = (try await issue(), try await issue())
        let order = TestAuthority.ResponderOrder(good: [good.serial], revoked: [bad.serial])
        let options: Options = [.ocsp, .networkAccessDisabled, .requirePositiveResponse]
        let goodTrust = try await makeTrust(good, stapled: try await authority.ocspAnswer(about: good, order))
        let accepted = try await refusal(evaluator(options), goodTrust)
        #expect(accepted == nil)
        let badTrust = try await makeTrust(bad, stapled: try await authority.ocspAnswer(about: bad, order))
        let refused = try await refusal(evaluator([.ocsp, .networkAccessDisabled]), badTrust)
        #expect(refused?.failure?.kind == .revoked)
        // An answer for another certificate, and no answer.
        let swapped = try await makeTrust(bad, stapled: try await authority.ocspAnswer(about: good, order))
        let other = try await refusal(evaluator(options), swapped)
        #expect(other?.failure?.description.contains("stapled: the OCSP answer is about another certificate") == true)
        let none = try await refusal(evaluator(options), try await makeTrust(good))
        #expect(none?.failure?.description.contains("it names no source") == true)
    }

    @Test func anOldStapledAnswerIsAskedForAnew() async throws {
        let authority = try await TestAuthority.shared()
        let serial = TestAuthority.newSerial()
        let responder = try await responder(revoked: [serial])
        let issued = try await issue(serial: serial, ocsp: responder.url)
        // An answer that an unauthorised signer signed counts as none.
        let plain = try await authority.issue { $0.name = "plain" }
        var order = TestAuthority.ResponderOrder(good: [serial])
        order.signer = plain.pair
        let trust = try await makeTrust(issued, stapled: try await authority.ocspAnswer(about: issued, order))
        let refused = try await refusal(evaluator(), trust)
        #expect(refused?.failure?.kind == .revoked)
    }

    // MARK: Lists

    @Test func aListFromAServerCounts() async throws {
        let authority = try await TestAuthority.shared()
        try await withTestServer { server async throws in
            let url = server.url("/list.crl")
            let (good, bad) = (try await issue(list: url), try await issue(list: url))
            let path = try await authority.revocationList(revoked: [bad.serial])
            let list = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            server.handle("GET", "/list.crl") { _ in Response(body: .bytes(list)) }
            let cache = RevocationCache()
            let accepted = try await refusal(
                evaluator([.crl, .requirePositiveResponse], cache: cache), try await makeTrust(good))
            #expect(accepted == nil)
            let refused = try await refusal(evaluator(cache: cache), try await makeTrust(bad))
            #expect(refused?.failure?.kind == .revoked)
            #expect(server.requests.count == 1, "the second evaluation has the list already")
            let onlyOCSP = try await refusal(evaluator(.ocsp), try await makeTrust(bad))
            #expect(onlyOCSP == nil)
            let offline = try await refusal(evaluator([.crl, .networkAccessDisabled]), try await makeTrust(bad))
            #expect(offline == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aListThatIsTooLongOrNoneIsNoAnswer() async throws {
        let authority = try await TestAuthority.shared()
        try await withTestServer { server async throws in
            let issued = try await issue(list: server.url("/list.crl"))
            let path = try await authority.revocationList(revoked: [])
            let list = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            server.handle("GET", "/list.crl") { _ in Response(body: .bytes(list)) }
            let trust = try await makeTrust(issued)
            var sources = RevocationSources()
            sources.maxListSize = list.count - 1
            let long = try await refusal(evaluator([.crl, .requirePositiveResponse], sources: sources), trust)
            #expect(long?.failure?.description.contains("is longer than \(list.count - 1) bytes") == true)
            sources.maxListSize = list.count
            let fits = try await refusal(evaluator([.crl, .requirePositiveResponse], sources: sources), trust)
            #expect(fits == nil)
            server.handle("GET", "/list.crl") { _ in Response(status: 404) }
            let missing = try await refusal(evaluator([.crl, .requirePositiveResponse]), trust)
            #expect(missing?.failure?.description.contains("status 404") == true)
        }
    }

    @Test func aGivenListNeedsNoNetwork() async throws {
        let authority = try await TestAuthority.shared()
        let (good, bad) = (try await issue(), try await issue())
        var sources = RevocationSources()
        sources.lists = [
            try RevocationList(path: try await authority.revocationList(of: .root, revoked: [])),
            try RevocationList(path: try await authority.revocationList(revoked: [bad.serial])),
        ]
        let options: Options = [.crl, .networkAccessDisabled, .requirePositiveResponse]
        let accepted = try await refusal(evaluator(options, sources: sources), try await makeTrust(good))
        #expect(accepted == nil)
        let refused = try await refusal(evaluator(options, sources: sources), try await makeTrust(bad))
        #expect(refused?.failure?.kind == .revoked)
        let later = try await refusal(
            evaluator(options, sources: sources, later: 90_000), try await makeTrust(good))
        #expect(later?.label == "trustEvaluationFailed")
    }

    @Test func aRevokedIntermediateIsFound() async throws {
        let authority = try await TestAuthority.make(name: "Revoked")
        defer { withExtendedLifetime(authority) {} }
        let issued = try await authority.issue()
        let serial = try certificate(authority.intermediate.certificate).serialNumber
        var sources = RevocationSources()
        sources.lists = [try RevocationList(path: try await authority.revocationList(of: .root, revoked: [serial]))]
        let trust = try await makeTrust(issued, anchors: authority.anchors)
        let refused = try await refusal(evaluator(sources: sources), trust)
        #expect(refused?.failure?.kind == .revoked)
        #expect(refused?.failure?.description.contains("CN=Revoked Intermediate,O=Revoked") == true)
    }

    @Test func theFirstWayThatKnowsDecidesAndPreferringListsTurnsThemRound() async throws {
        let authority = try await TestAuthority.shared()
        let serial = TestAuthority.newSerial()
        let responder = try await responder(good: [serial])
        let trust = try await makeTrust(try await issue(serial: serial, ocsp: responder.url))
        var sources = RevocationSources()
        sources.lists = [try RevocationList(path: try await authority.revocationList(revoked: [serial]))]
        let ocspFirst = try await refusal(evaluator(.any, sources: sources), trust)
        #expect(ocspFirst == nil)
        let listsFirst = try await refusal(evaluator([.any, .preferCRL], sources: sources), trust)
        #expect(listsFirst?.failure?.kind == .revoked)
        await responder.stop()
        let whatIsLeft = try await refusal(evaluator(.any, sources: sources), trust)
        #expect(whatIsLeft?.failure?.kind == .revoked)
    }

    // MARK: Rules around

    @Test func theChainAndTheHostCountFirst() async throws {
        let authority = try await TestAuthority.shared()
        let own = try await makeTrust(try await authority.issue { $0.signer = .itself })
        let chain = try await refusal(evaluator(), own)
        #expect(chain?.label == "trustEvaluationFailed")
        // Without the default validation the chain still has to be good, since it authenticates the answer.
        let without = RevocationTrustEvaluator(performDefaultValidation: false)
        let refused = try await refusal(without, own)
        #expect(refused?.label == "trustEvaluationFailed")
        #expect(refused?.failure?.kind == .selfSigned)
        let other = try await makeTrust(try await authority.issue { $0.alternativeNames = ["DNS:other.example"] })
        let host = try await refusal(evaluator(), other)
        #expect(host?.label == "trustEvaluationFailed")
        let anyHost = RevocationTrustEvaluator(validateHost: false)
        let accepted = try await refusal(anyHost, other)
        #expect(accepted == nil)
    }

    @Test func aCertificateThatIsTrustedItselfHasNoRevocationProof() async throws {
        let issued = try await TestAuthority.shared().issue { $0.signer = .itself }
        let trust = try await makeTrust(issued, anchors: issued.certificate)
        let soft = try await refusal(evaluator(), trust)
        #expect(soft == nil)
        let hard = try await refusal(evaluator(.requirePositiveResponse), trust)
        #expect(hard?.label == "trustEvaluationFailed")
    }

    @Test func optionsAreThoseOfTheDocuments() {
        #expect(Options.any == [.ocsp, .crl])
        let all: [Options] = [.ocsp, .crl, .preferCRL, .requirePositiveResponse, .networkAccessDisabled]
        #expect(Set(all.map(\.rawValue)).count == 5)
    }
}
