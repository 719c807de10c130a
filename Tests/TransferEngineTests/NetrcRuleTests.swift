import Testing
import TransferCore

@testable import TransferEngine

/// The entry of a `.netrc` file that a hop gets, as a pure rule.
@Suite struct NetrcRuleTests {
    private static let file = """
        machine own.example login first password p1
        machine own.example login second password p2
        machine login.example login ada password pw
        default login anyone password pd
        """

    private static func flow(_ url: String, user: String? = nil) -> AuthenticationFlow {
        var request = ExchangeRequest(url: url)
        let host = Origin(url: url)?.host ?? ""
        request.settings.credentials = .netrc(NetrcAccount(Netrc(file), host: host, user: user))
        return AuthenticationFlow(request, makeNonce: { "c" })
    }

    private static func hop(
        _ url: String, method: String = "GET", isOwn: Bool = false, sendsBody: Bool = false,
        headers: [HeaderField] = []
    ) -> Hop {
        Hop(url: url, method: method, headers: headers, sendsBody: sendsBody, sendsCredentials: isOwn)
    }

    private static func field(_ user: String, _ password: String) -> Hop.Authorization? {
        BasicAccess.authorization(user: user, password: password).map { .field($0) }
    }

    @Test(
        arguments: [
            ("http://own.example/f", nil, "first", "p1"), ("http://own.example/f", "second", "second", "p2"),
            ("http://own.example/f", "third", nil, nil), ("http://other.example/f", nil, "anyone", "pd"),
            ("http://other.example/f", "anyone", "anyone", "pd"), ("http://other.example/f", "eve", nil, nil),
            ("https://own.example:8443/f", nil, "first", "p1"),
        ] as [(String, String?, String?, String?)])
    func theOwnMachineGetsItsEntryOrTheDefault(
        _ url: String, _ user: String?, _ login: String?, _ password: String?
    ) {
        var flow = Self.flow(url, user: user)
        let hop = flow.authorized(Self.hop(url, isOwn: true))
        #expect(hop.authorization == login.flatMap { Self.field($0, password ?? "") })
        #expect(hop.netrcMachine == nil, "that is what it was given for")
    }

    /// Rows: a hop from `from` to `to`, which is a later hop.
    @Test(
        arguments: [
            ("http://own.example/", "http://login.example/l", "GET", false, true),
            ("http://own.example/", "http://login.example:8080/l", "GET", false, true),
            ("http://own.example/", "http://LOGIN.example/l", "HEAD", false, true),
            ("https://own.example/", "https://login.example/l", "GET", false, true),
            ("http://own.example/", "https://login.example/l", "GET", false, true),
            // Clear text after TLS, other methods, a request with a body, and the entry for all machines.
            ("https://own.example/", "http://login.example/l", "GET", false, false),
            ("http://own.example/", "http://login.example/l", "POST", false, false),
            ("http://own.example/", "http://login.example/l", "DELETE", false, false),
            ("http://own.example/", "http://login.example/l", "GET", true, false),
            ("http://own.example/", "http://else.example/l", "GET", false, false),
            ("http://own.example/", "http://sub.login.example/l", "GET", false, false),
        ] as [(String, String, String, Bool, Bool)])
    func aLaterHopGetsTheEntryOfItsMachineForAPlainQuestion(
        _ from: String, _ to: String, _ method: String, _ sendsBody: Bool, _ isGiven: Bool
    ) {
        var flow = Self.flow(from)
        _ = flow.authorized(Self.hop(from, isOwn: true))
        let hop = flow.authorized(Self.hop(to, method: method, sendsBody: sendsBody))
        #expect(hop.authorization == (isGiven ? Self.field("ada", "pw") : nil))
        #expect(hop.netrcMachine == (isGiven ? "login.example" : nil))
    }

    @Test func onceAHopWasSecureNoneIsInClearText() {
        var flow = Self.flow("http://own.example/")
        _ = flow.authorized(Self.hop("http://own.example/", isOwn: true))
        _ = flow.authorized(Self.hop("https://else.example/"))
        #expect(flow.authorized(Self.hop("http://login.example/")).authorization == nil)
        #expect(flow.authorized(Self.hop("https://login.example/")).authorization == Self.field("ada", "pw"))
        // The same holds if the password was sent to this machine before.
        #expect(flow.authorized(Self.hop("http://login.example/")).authorization == nil)
    }

    @Test func aPlaceThatIsAskedDirectlyGetsNoneInClearText() {
        var flow = Self.flow("http://own.example/")
        #expect(flow.authorized(Self.hop("http://login.example/learnt")).authorization == nil)
        // A redirect from the owner's URL starts a new chain.
        _ = flow.authorized(Self.hop("http://own.example/", isOwn: true))
        #expect(flow.authorized(Self.hop("http://login.example/")).authorization == Self.field("ada", "pw"))
        var secure = Self.flow("http://own.example/")
        #expect(secure.authorized(Self.hop("https://login.example/learnt")).authorization == Self.field("ada", "pw"))
    }

    @Test func theOwnersUserCountsWhenTheChainComesBackAndTheDefaultDoesNot() {
        var flow = Self.flow("http://own.example/", user: "second")
        _ = flow.authorized(Self.hop("http://own.example/", isOwn: true))
        _ = flow.authorized(Self.hop("http://login.example/"))
        #expect(flow.authorized(Self.hop("http://own.example/back")).authorization == Self.field("second", "p2"))
        #expect(flow.authorized(Self.hop("http://own.example/back", method: "POST")).authorization == nil)
        var other = Self.flow("http://other.example/")
        #expect(other.authorized(Self.hop("http://other.example/", isOwn: true)).authorization != nil)
        #expect(other.authorized(Self.hop("http://other.example/back")).authorization == nil)
    }

    @Test func aFieldOfTheOwnersOwnStays() {
        var flow = Self.flow("http://own.example/")
        let hop = Self.hop(
            "http://own.example/", isOwn: true, headers: [HeaderField("Authorization", "Bearer t")])
        #expect(flow.authorized(hop).authorization == nil)
    }

    @Test func aRefusedPasswordIsSentOnce() throws {
        var flow = Self.flow("http://own.example/")
        let hop = flow.authorized(Self.hop("http://own.example/", isOwn: true))
        let head = ResponseHead(status: 401, fields: [HeaderField("WWW-Authenticate", "Basic realm=r")])
        let judged = flow.challenged(hop, head)
        let answer = try #require(judged)
        #expect(!answer.again && answer.0.failures == 1)
        #expect(flow.authorized(Self.hop("http://own.example/again", isOwn: true)).authorization == nil)
    }

    @Test func aServerThatWantsDigestGetsDigest() throws {
        var flow = Self.flow("http://own.example/")
        let hop = flow.authorized(Self.hop("http://own.example/", isOwn: true))
        let head = ResponseHead(status: 401, fields: [HeaderField("WWW-Authenticate", "Digest realm=r, nonce=n")])
        let judged = flow.challenged(hop, head)
        #expect(try #require(judged).again)
        guard case .field(let value) = flow.authorized(Self.hop("http://own.example/", isOwn: true)).authorization
        else {
            Issue.record("no answer")
            return
        }
        #expect(value.hasPrefix("Digest username=\"first\""))
    }
}
