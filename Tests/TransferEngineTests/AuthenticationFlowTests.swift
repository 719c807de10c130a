import Testing
import TransferCore

@testable import TransferEngine

/// An authentication flow in a class, so that `#expect` can call its mutating functions.
private final class Flow {
    private var flow: AuthenticationFlow
    init(_ request: ExchangeRequest) { flow = AuthenticationFlow(request, makeNonce: { "c" }) }
    func authorized(_ hop: Hop) -> Hop { flow.authorized(hop) }
    func challenged(_ hop: Hop, _ head: ResponseHead) -> (AuthenticationReport, again: Bool)? {
        flow.challenged(hop, head)
    }
    func refusesToBeAsked() { flow.mayAskFirst = false }
    func accepted(_ hop: Hop, _ fields: [HeaderField] = []) {
        flow.accepted(hop, ResponseHead(status: 200, fields: fields))
    }
}

@Suite struct AuthenticationFlowTests {
    private static let url = "http://a.example/dir/x?q=1"

    private func flow(memory: AuthenticationMemory? = nil, remembers: Bool = false, body: RequestBody = .none)
        -> Flow
    {
        var request = ExchangeRequest(url: Self.url, body: body)
        request.settings.credentials = .password(user: "u", password: "p")
        request.authentication.memory = memory
        request.authentication.remembers = remembers
        return Flow(request)
    }

    private func hop(_ url: String = url) -> Hop { Hop(url: url, method: "GET", headers: [], sendsBody: false) }

    private func head(_ challenges: String...) -> ResponseHead {
        ResponseHead(status: 401, fields: challenges.map { HeaderField("WWW-Authenticate", $0) })
    }

    private func field(_ hop: Hop) -> String? {
        if case .field(let value) = hop.authorization { return value }
        return nil
    }

    @Test func nothingIsSentBeforeAChallenge() {
        let flow = self.flow()
        #expect(flow.authorized(hop()).authorization == nil)
    }

    private func upload(_ bytes: Int, to url: String = url) -> (RequestBody, Hop) {
        (.bytes([UInt8](repeating: 0, count: bytes)), Hop(url: url, method: "PUT", headers: [], sendsBody: true))
    }

    /// RFC 9110 §10.1.1: a long body, which a 401 would waste, waits for the challenge. A short body costs no more than
    /// the wait.
    @Test func aLongBodyWaitsForTheFirstChallenge() {
        for (count, waits) in [(64 << 10, false), ((64 << 10) + 1, true)] {
            let (body, hop) = upload(count)
            let flow = self.flow(body: body)
            #expect(flow.authorized(hop).asksFirst == waits)
            _ = flow.challenged(hop, head("Basic realm=r"))
            let second = flow.authorized(flow.authorized(hop))
            #expect(!second.asksFirst && second.authorization != nil)
        }
        let (body, hop) = upload(1 << 20)
        #expect(!AuthenticationFlowTests.anonymous(body).authorized(hop).asksFirst)
        var own = hop
        own.headers = [HeaderField("Authorization", "Bearer t")]
        #expect(!flow(body: body).authorized(own).asksFirst)
        let refused = flow(body: body)
        refused.refusesToBeAsked()
        #expect(!refused.authorized(hop).asksFirst)
    }

    private static func anonymous(_ body: RequestBody) -> Flow { Flow(ExchangeRequest(url: url, body: body)) }

    /// A challenge to one exchange is answered by exchanges that begin meanwhile. Each one's own answer shows whether
    /// the credential is right.
    @Test func aChallengeIsKnownToOthersBeforeItsAnswerIsJudged() throws {
        let memory = AuthenticationMemory()
        let first = flow(memory: memory, remembers: true)
        _ = first.challenged(hop(), head("Basic realm=r"))
        let second = flow(memory: memory, remembers: true)
        #expect(field(second.authorized(hop())) != nil)
        // The same challenge was answered and refused: the password is wrong and is not sent again.
        #expect(second.challenged(second.authorized(hop()), head("Basic realm=r"))?.again == false)
        #expect(field(flow(memory: memory, remembers: true).authorized(hop())) == nil)
        // In another protection space the password has not been judged yet.
        _ = first.challenged(hop(), head("Basic realm=r"))
        let third = flow(memory: memory, remembers: true)
        #expect(third.challenged(third.authorized(hop()), head("Basic realm=other"))?.again == true)
    }

    @Test(
        arguments: [
            (["Basic realm=r", "Digest realm=r, nonce=n"], "Digest"),
            (["Digest realm=r, nonce=n", "Digest realm=r, nonce=n, algorithm=SHA-256"], "SHA-256"),
            (["Basic realm=r, Digest realm=r, nonce=n, algorithm=SHA-512-256"], "Basic"),
            (
                [
                    "Digest realm=r, nonce=n, algorithm=SHA-256-sess, qop=auth",
                    "Digest realm=r, nonce=n, algorithm=SHA-256",
                ], "sess"
            ),
        ] as [([String], String)])
    func theStrongestChallengeIsAnswered(_ challenges: [String], _ expected: String) throws {
        let flow = self.flow()
        let head = ResponseHead(status: 401, fields: challenges.map { HeaderField("WWW-Authenticate", $0) })
        let judged = flow.challenged(hop(), head)
        let result = try #require(judged)
        #expect(result.again)
        #expect(field(flow.authorized(hop()))?.contains(expected) == true)
    }

    @Test func ntlmIsTakenBeforeBasicAndNegotiateLast() throws {
        let flow = self.flow()
        #expect(flow.challenged(hop(), head("Negotiate", "Basic realm=r", "NTLM"))?.0.space.method == .ntlm)
        let other = self.flow()
        #expect(other.challenged(hop(), head("Negotiate", "Basic realm=r"))?.0.space.method == .basic)
        let last = self.flow()
        #expect(last.challenged(hop(), head("Negotiate"))?.0.space.method == .negotiate)
    }

    @Test func aRefusedCredentialIsNotSentAgain() throws {
        let flow = self.flow()
        _ = flow.challenged(hop(), head("Basic realm=r"))
        let second = flow.authorized(hop())
        let judged = flow.challenged(second, head("Basic realm=r"))
        let result = try #require(judged)
        #expect(!result.again && result.0.failures == 1 && result.0.credential == nil)
    }

    @Test func aStaleNonceIsRenewedButNotForEver() throws {
        let flow = self.flow()
        var current = hop()
        var challenge = "Digest realm=r, nonce=n0, qop=auth"
        var sent = 0
        for number in 1...10 {
            guard let result = flow.challenged(current, head(challenge)), result.again else { break }
            current = flow.authorized(hop())
            #expect(field(current)?.contains("nonce=\"n\(number - 1)\"") == true)
            sent += 1
            challenge = "Digest realm=r, nonce=n\(number), qop=auth, stale=true"
        }
        #expect(sent == 3)
    }

    @Test func staleOfAnotherRealmIsARefusal() throws {
        let flow = self.flow()
        _ = flow.challenged(hop(), head("Digest realm=r, nonce=n"))
        let answered = flow.authorized(hop())
        let judged = flow.challenged(answered, head("Digest realm=q, nonce=m, stale=true"))
        let result = try #require(judged)
        #expect(!result.again)
    }

    @Test func theCountOfANonceGoesUpAndIsShared() throws {
        let memory = AuthenticationMemory()
        let first = flow(memory: memory, remembers: true)
        _ = first.challenged(hop(), head("Digest realm=r, nonce=n, qop=auth"))
        let sent = first.authorized(hop())
        #expect(field(sent)?.contains("nc=00000001") == true)
        first.accepted(sent)
        let second = flow(memory: memory, remembers: true)
        #expect(field(second.authorized(hop()))?.contains("nc=00000002") == true)
        // A flow that does not share its credentials is not authorised by the shared memory either.
        let third = flow(memory: memory)
        #expect(third.authorized(hop()).authorization == nil)
    }

    @Test func basicIsKeptToItsFolder() throws {
        let memory = AuthenticationMemory()
        let first = flow(memory: memory, remembers: true)
        _ = first.challenged(hop(), head("Basic realm=r"))
        first.accepted(first.authorized(hop()))
        for (url, isCovered) in [
            ("http://a.example/dir/y", true), ("http://a.example/dir/deep/y", true), ("http://a.example/other", false),
            ("http://a.example:81/dir/y", false), ("https://a.example/dir/y", false), ("http://b.example/dir/y", false),
        ] {
            let next = flow(memory: memory, remembers: true)
            #expect((next.authorized(hop(url)).authorization != nil) == isCovered, "\(url)")
        }
    }

    /// Adds a space to the memory: sends a request that is challenged and then accepted.
    private func introduce(_ memory: AuthenticationMemory, _ url: String, _ challenge: String) {
        let flow = self.flow(memory: memory, remembers: true)
        _ = flow.challenged(flow.authorized(hop(url)), head(challenge))
        flow.accepted(flow.authorized(hop(url)))
    }

    private func early(_ memory: AuthenticationMemory, _ url: String) -> String? {
        field(flow(memory: memory, remembers: true).authorized(hop(url)))
    }

    @Test func anOriginMayHaveSeveralSpaces() {
        let memory = AuthenticationMemory()
        introduce(memory, "http://a.example/one/x", "Basic realm=one")
        introduce(memory, "http://a.example/two/x", "Basic realm=two")
        for url in ["http://a.example/one/y", "http://a.example/two/deep/y"] {
            #expect(early(memory, url)?.hasPrefix("Basic") == true, "\(url)")
        }
        #expect(early(memory, "http://a.example/three/x") == nil)
        introduce(memory, "http://a.example/d/x", "Digest realm=d, nonce=n, qop=auth")
        introduce(memory, "http://a.example/e/x", "Digest realm=e, nonce=m, qop=auth")
        #expect(early(memory, "http://a.example/one/y")?.hasPrefix("Basic") == true)
        #expect(early(memory, "http://a.example/d/y")?.contains("nonce=\"n\"") == true)
        #expect(early(memory, "http://a.example/e/y")?.contains("nonce=\"m\"") == true)
        introduce(memory, "http://a.example/d/z", "Digest realm=other, nonce=o, qop=auth")
        #expect(early(memory, "http://a.example/d/y")?.contains("nonce=\"o\"") == true)
    }

    @Test func aNewNonceIsTheWholeSpacesAndNoOlderOneTakesItsPlace() {
        let memory = AuthenticationMemory()
        introduce(memory, "http://a.example/d/x", "Digest realm=d, nonce=n, qop=auth")
        let slow = flow(memory: memory, remembers: true)
        let sent = slow.authorized(hop("http://a.example/d/slow"))
        introduce(memory, "http://a.example/d/deep/x", "Digest realm=d, nonce=m, qop=auth, stale=true")
        slow.accepted(sent)
        for url in ["http://a.example/d/y", "http://a.example/d/deep/y", "http://a.example/y"] {
            #expect(early(memory, url)?.contains("nonce=\"m\"") == true, "\(url)")
        }
    }

    /// RFC 9110 §11.5: one realm is one protection space. Two known folders of a realm cover the tree that they share.
    @Test func foldersOfOneRealmAreOneSpace() {
        let memory = AuthenticationMemory()
        introduce(memory, "http://a.example/dav/tree/a/x", "Basic realm=dav")
        #expect(early(memory, "http://a.example/dav/tree/b/x") == nil)
        introduce(memory, "http://a.example/dav/tree/be/x", "Basic realm=dav")
        for (url, isCovered) in [
            ("http://a.example/dav/tree/a/y", true), ("http://a.example/dav/tree/c/deep/y", true),
            ("http://a.example/dav/y", false), ("http://a.example/dav/treetop/y", false), ("http://b.example/", false),
        ] {
            #expect((early(memory, url) != nil) == isCovered, "\(url)")
        }
    }

    /// RFC 7616 §3.5.
    @Test func theServerNamesTheNextNonce() {
        let memory = AuthenticationMemory()
        let first = flow(memory: memory, remembers: true)
        _ = first.challenged(hop(), head("Digest realm=r, nonce=n, qop=auth"))
        let next = HeaderField("Authentication-Info", "rspauth=\"0\", nextnonce=\"m, 2\", nc=00000001")
        first.accepted(first.authorized(hop()), [next])
        let second = flow(memory: memory, remembers: true)
        let sent = second.authorized(hop())
        #expect(field(sent)?.contains("nonce=\"m, 2\"") == true && field(sent)?.contains("nc=00000001") == true)
        // The same nonce in a later answer continues its count.
        second.accepted(sent, [next])
        #expect(early(memory, Self.url)?.contains("nc=00000002") == true)
    }

    @Test func exchangesOfOneNonceShareItsCount() {
        let memory = AuthenticationMemory()
        let flows = (0..<3).map { _ in flow(memory: memory, remembers: true) }
        // All requests were on their way when the first was challenged.
        let hops = flows.map { $0.authorized(hop()) }
        for (flow, hop) in zip(flows, hops) {
            _ = flow.challenged(hop, head("Digest realm=r, nonce=n, qop=auth"))
        }
        let counts = flows.compactMap { field($0.authorized(hop()))?.split(separator: "nc=").last?.prefix(8) }
        #expect(counts == ["00000001", "00000002", "00000003"])
    }

    @Test func aRememberedAnswerThatIsRefusedIsMadeAnewOnce() throws {
        let memory = AuthenticationMemory()
        let first = flow(memory: memory, remembers: true)
        _ = first.challenged(hop(), head("Digest realm=r, nonce=n, qop=auth"))
        first.accepted(first.authorized(hop()))
        let second = flow(memory: memory, remembers: true)
        let early = second.authorized(hop())
        #expect(second.challenged(early, head("Digest realm=r, nonce=m, qop=auth"))?.again == true)
        let again = second.authorized(hop())
        #expect(field(again)?.contains("nonce=\"m\"") == true)
        #expect(second.challenged(again, head("Digest realm=r, nonce=o, qop=auth"))?.again == false)
        let third = flow(memory: memory, remembers: true)
        #expect(third.authorized(hop()).authorization == nil)
    }

    @Test func theGivenCredentialIsNotForOtherOrigins() {
        let flow = self.flow()
        var crossed = hop("http://b.example/")
        crossed.sendsCredentials = false
        #expect(flow.challenged(crossed, head("Basic realm=r"))?.again == false)
        // After a redirect from another origin, the credential is not sent to its own origin either.
        _ = flow.challenged(hop(), head("Basic realm=r"))
        var back = hop()
        back.sendsCredentials = false
        #expect(flow.authorized(back).authorization == nil)
    }

    @Test func aStoreIsAskedForTheSpaceAndOnlyWithoutACredential() throws {
        var request = ExchangeRequest(url: Self.url)
        request.authentication.ask = { space in
            space.realm == "known" && space.origin.host == "a.example"
                ? ChallengeCredential(user: "s", password: "t") : nil
        }
        let flow = Flow(request)
        #expect(flow.challenged(hop(), head("Basic realm=other"))?.again == false)
        #expect(flow.challenged(hop(), head("Basic realm=known"))?.0.credential?.user == "s")
        #expect(field(flow.authorized(hop())) == BasicAccess.authorization(user: "s", password: "t"))
    }

    @Test func anUnknownSchemeIsReturnedAsTheAnswer() {
        let flow = self.flow()
        #expect(flow.challenged(hop(), head("Bearer realm=r")) == nil)
        #expect(flow.challenged(hop(), head()) == nil)
    }

    @Test func theTargetIsPathAndQuery() {
        #expect(AuthenticationFlow.target("http://a/b/c?d=e#f") == "/b/c?d=e")
        #expect(AuthenticationFlow.target("http://a") == "/" && AuthenticationFlow.target("http://a?x") == "/?x")
    }

    @Test func noPasswordIsInADescription() {
        let credential = ChallengeCredential(user: "u", password: "secret")
        #expect(!"\(credential)".contains("secret") && !String(reflecting: credential).contains("secret"))
        var settings = ExchangeSettings()
        settings.credentials = .password(user: "u", password: "secret")
        settings.proxies = ProxyRule(http: "http://u:secret@p:1")
        #expect(!"\(settings)".contains("secret"))
    }
}
