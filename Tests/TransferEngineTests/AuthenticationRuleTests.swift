import Testing
import TransferCore

@testable import TransferEngine

@Suite struct AuthenticationChallengeTests {
    private func schemes(_ value: String) -> [String] { AuthenticationChallenge.parse(value).map(\.scheme) }

    @Test(
        arguments: [
            (#"Basic realm="a""#, ["basic"]), (#"Basic realm="a, b", Digest nonce="c""#, ["basic", "digest"]),
            ("NTLM", ["ntlm"]), ("Negotiate, NTLM, Basic realm=x", ["negotiate", "ntlm", "basic"]),
            (#"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#, ["newauth", "basic"]),
            (", ,Basic realm=a,,", ["basic"]), ("", []), ("=,==", []), ("\"unended", []),
            ("NTLM TlRMTVNTUAACAAAA==, Basic realm=\"x\"", ["ntlm", "basic"]),
        ] as [(String, [String])])
    func severalChallengesOfOneFieldAreSeparated(_ value: String, _ expected: [String]) {
        #expect(schemes(value) == expected)
    }

    @Test func quotedPairsAndSpacesAroundEqualsAreRead() throws {
        let challenge = try #require(
            AuthenticationChallenge.parse(#"Digest Realm = "a\"b\\", NONCE=x , qop="auth,auth-int""#).first)
        #expect(challenge.realm == #"a"b\"# && challenge.parameters["nonce"] == "x")
        #expect(challenge.parameters["qop"] == "auth,auth-int")
    }

    @Test func aTokenIsKept() {
        #expect(AuthenticationChallenge.parse("Negotiate oYG2MIGz==").first?.token == "oYG2MIGz==")
        #expect(AuthenticationChallenge.parse("Negotiate").first?.token == nil)
    }

    @Test func theFirstOfTwoParametersCounts() {
        #expect(AuthenticationChallenge.parse("Basic realm=a, realm=b").first?.realm == "a")
    }
}

private func digestAccess(_ text: String) throws -> DigestAccess {
    let challenge = try #require(AuthenticationChallenge.parse(text).first)
    return try #require(DigestAccess(challenge))
}

@Suite struct DigestAccessTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func challenge(_ extra: String) throws -> DigestAccess {
        try digestAccess("Digest realm=\"http-auth@example.org\", nonce=\"\(Self.nonce)\"" + extra)
    }

    private func answer(_ digest: DigestAccess, method: String = "GET", body: [UInt8]? = [], user: String = "Mufasa")
        -> String?
    {
        digest.authorization(
            user: user, password: "Circle of Life",
            for: .init(method: method, target: "/dir/index.html", body: body), count: 1,
            clientNonce: Self.clientNonce)
    }

    /// RFC 7616 §3.9.1.
    @Test func theExamplesOfTheStandardComeOut() throws {
        let extra = ", qop=\"auth, auth-int\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", algorithm="
        let md5 = try #require(answer(try challenge(extra + "MD5")))
        #expect(md5.contains("response=\"8ca523f5e9506fed4657c9700eebdbec\""))
        #expect(md5.contains("nc=00000001") && md5.contains("opaque=\"FQhe/") && md5.contains("qop=auth,"))
        let sha = try #require(answer(try challenge(extra + "SHA-256")))
        #expect(sha.contains("response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\""))
    }

    /// RFC 2617 §3.5 has the answer with `qop`. Without `qop` the formula of RFC 2069 holds.
    @Test func withoutProtectionTheOldFormulaHolds() throws {
        let text = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let digest = try digestAccess(text)
        let value = try #require(
            digest.authorization(
                user: "Mufasa", password: "Circle Of Life",
                for: .init(method: "GET", target: "/dir/index.html", body: []),
                count: 1, clientNonce: "x"))
        #expect(value.contains("response=\"670fd8c2df070c60b045671b8b24ff02\""))
        #expect(!value.contains("qop=") && !value.contains("nc=") && !value.contains("algorithm="))
    }

    @Test func theBodyIsProtectedWhereNothingElseIsOffered() throws {
        let digest = try challenge(", qop=\"auth-int\", algorithm=SHA-256")
        let one = try #require(answer(digest, method: "POST", body: [1]))
        let other = try #require(answer(digest, method: "POST", body: [2]))
        #expect(one.contains("qop=auth-int") && one != other)
        #expect(answer(digest, method: "POST", body: nil) == nil)
    }

    @Test func aStreamGetsTheProtectionThatNeedsNoBody() throws {
        #expect(answer(try challenge(", qop=\"auth-int,auth\""), body: nil)?.contains("qop=auth,") == true)
    }

    @Test func aSessionsKeyDependsOnBothNonces() throws {
        let plain = try #require(answer(try challenge(", qop=auth, algorithm=MD5")))
        let session = try #require(answer(try challenge(", qop=auth, algorithm=MD5-sess")))
        #expect(session.contains("algorithm=MD5-sess"))
        let response = { (text: String) in text.split(separator: " ").first { $0.hasPrefix("response=") } }
        #expect(response(plain) != response(session))
    }

    /// RFC 7616 §3.9.2 hashes the name. Its numbers are for SHA-512-256, which few servers support.
    @Test func theNameIsHashedIfTheServerRequiresIt() throws {
        let value = try #require(
            answer(try challenge(", qop=auth, userhash=true, algorithm=SHA-256"), user: "Jäsøn Doe"))
        #expect(value.contains("userhash=true") && !value.contains("Jäsøn") && !value.contains("username*"))
    }

    @Test func namesBeyondASCIIGoOutAsTheServerReadsThem() throws {
        #expect(answer(try challenge(", charset=UTF-8"), user: "Jä")?.contains("username*=UTF-8''J%C3%A4") == true)
        #expect(answer(try challenge(""), user: "Jä")?.contains("username=\"Jä\"") == true)
        #expect(answer(try challenge(""), user: "a\"b")?.contains(#"username="a\"b""#) == true)
    }

    @Test(arguments: [", algorithm=SHA-512-256", ", qop=\"other\"", ", algorithm=token"])
    func unsupportedChallengesAreIgnored(_ extra: String) throws {
        let text = "Digest realm=\"r\", nonce=\"n\"" + extra
        let challenge = try #require(AuthenticationChallenge.parse(text).first)
        #expect(DigestAccess(challenge) == nil)
    }

    @Test func basicIsUTF8AndRefusesWhatItCannotCarry() {
        #expect(
            BasicAccess.authorization(user: "Aladdin", password: "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        // RFC 7617 §2.1.
        #expect(BasicAccess.authorization(user: "test", password: "123£") == "Basic dGVzdDoxMjPCow==")
        #expect(BasicAccess.authorization(user: "a:b", password: "c") == nil)
        #expect(BasicAccess.authorization(user: "a", password: "c\n") == nil)
        #expect(
            BasicAccess.base64([]) == "" && BasicAccess.base64([0]) == "AA==" && BasicAccess.base64([0, 0]) == "AAA=")
    }
}
