import Testing
import TransferCore

@Suite struct RedactionTests {
    @Test(
        arguments: [
            ("https://a.example/x", "https://a.example/x"),
            ("https://user:pw@a.example/x", "https://a.example/x"),
            ("https://user:p@ss@a.example/x", "https://a.example/x"),
            ("ftp://user@a.example/x@y", "ftp://a.example/x@y"),
            ("https://a.example/x@y?q=a@b", "https://a.example/x@y?q=a@b"),
            ("https://b.example/x?X-Amz-Signature=abc&part=1", "https://b.example/x?X-Amz-Signature=***&part=1"),
            (
                "https://b.example/x?X-Amz-Credential=A&X-Amz-Date=2",
                "https://b.example/x?X-Amz-Credential=***&X-Amz-Date=***"
            ),
            ("https://g.example/x?X-Goog-Signature=abc#top", "https://g.example/x?X-Goog-Signature=***#top"),
            ("https://z.example/x?sv=1&sig=abc%3D&se=2", "https://z.example/x?sv=***&sig=***&se=***"),
            (
                "https://o.example/x?OSSAccessKeyId=a&Expires=1&Signature=b",
                "https://o.example/x?OSSAccessKeyId=***&Expires=***&Signature=***"
            ), ("https://q.example/x?q-ak=a&q-signature=b", "https://q.example/x?q-ak=a&q-signature=***"),
            ("https://k.example/x?hdnts=exp=1~hmac=2&n=3", "https://k.example/x?hdnts=***&n=3"),
            (
                "https://c.example/x?Policy=p&Signature=s&Key-Pair-Id=k",
                "https://c.example/x?Policy=***&Signature=***&Key-Pair-Id=***"
            ),
            (
                "https://a.example/x?TOKEN=t&access_token=u&keep=v",
                "https://a.example/x?TOKEN=***&access_token=***&keep=v"
            ),
            ("https://a.example/x?token", "https://a.example/x?token"),
            ("https://a.example/x?token=a=b", "https://a.example/x?token=***"),
            ("no url with user:pw@host", "no url with user:pw@host"),
            ("Could not resolve https://u:p@a.example/", "Could not resolve https://a.example/"),
        ] as [(String, String)])
    func takesUserinfoAndSignaturesOut(_ url: String, _ redacted: String) {
        #expect(Redaction.url(url) == redacted)
        #expect(Redaction.hasSecret(url) == (url != redacted))
        #expect(Redaction.url(redacted) == redacted, "once is enough")
    }

    @Test(arguments: [
        "Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token",
        "x-amz-security-token", "Private-Token", "X-Hub-Signature", "X-Client-Secret",
    ])
    func knowsSecretHeaders(_ name: String) {
        #expect(Redaction.isSecretHeader(name))
    }

    @Test(arguments: ["Accept", "User-Agent", "Range", "If-Range", "Idempotency-Key", "Content-Type", "X-Team", "Keys"])
    func leavesOtherHeaders(_ name: String) {
        #expect(!Redaction.isSecretHeader(name))
    }
}

@Suite struct OriginTests {
    @Test(
        arguments: [
            ("http://a.example", "http", "a.example", 80), ("https://A.Example/x", "https", "a.example", 443),
            ("HTTP://a.example:8080/x?y#z", "http", "a.example", 8080),
            ("https://a.example:/x", "https", "a.example", 443),
            ("http://[::1]:81/", "http", "::1", 81), ("http://u:p@a.example/", "http", "a.example", 80),
            ("http://u@evil.example@a.example/", "http", "a.example", 80),
            ("http://a.example?x=http://b.example/", "http", "a.example", 80),
            ("http://a.example#@b.example", "http", "a.example", 80),
        ] as [(String, String, String, Int)])
    func readsSchemeHostAndPort(_ url: String, _ scheme: String, _ host: String, _ port: Int) throws {
        let origin = try #require(Origin(url: url))
        #expect(origin.scheme == scheme && origin.host == host && origin.port == port)
    }

    @Test(arguments: [
        "", "a.example", "//a.example/", "file:///etc/passwd", "ftp://a.example/", "http://", "http:///x",
        "http://:80/",
        "http://a.example:0/", "http://a.example:65536/", "http://a.example:x/", "http:/a.example",
        "javascript:alert(1)", "http://a b/", "http://a\tb/", "http://a\u{0}b/", "http://a\r\nb/",
    ])
    func refusesTheRest(_ url: String) {
        #expect(Origin(url: url) == nil)
    }

    @Test func equalOriginsAreOneServer() {
        #expect(Origin(url: "https://A.example:443/x") == Origin(url: "HTTPS://a.EXAMPLE/y"))
        #expect(Origin(url: "http://a.example/") != Origin(url: "https://a.example/"))
        #expect(Origin(url: "http://a.example:81/") != Origin(url: "http://a.example/"))
        #expect(Origin(url: "http://[::1]:81/")?.description == "http://[::1]:81")
        #expect(Origin(url: "https://a.example:443")?.hostAndPort == "a.example")
    }
}

@Suite struct IPAddressTests {
    static let zeros = [UInt8](repeating: 0, count: 16)

    @Test(
        arguments: [
            ("127.0.0.1", [127, 0, 0, 1]), ("::", zeros), ("::1", zeros.dropLast() + [1]),
            ("1::", [0, 1] + zeros.dropLast(2)), ("fe80::1%eth0", [0xFE, 0x80] + zeros.dropLast(3) + [1]),
            ("::ffff:1.2.3.4", zeros.dropLast(6) + [0xFF, 0xFF, 1, 2, 3, 4]),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("2001:DB8::", [0x20, 1, 0x0D, 0xB8] + zeros.dropLast(4)),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
        ] as [(String, [UInt8])])
    func reads(_ text: String, _ bytes: [UInt8]) {
        #expect(IPAddress(text)?.bytes == bytes)
    }

    @Test(arguments: [
        "", ".", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2..4", "a.example", ":", ":::", "1::2::3", "12345::",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1.2.3", "1.2.3.4::", "g::", "+1.2.3.4", "::+1",
        ":1", "1:",
    ])
    func refusesTheRest(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        arguments: [
            ("127.0.0.1", true), ("127.9.9.9", true), ("128.0.0.1", false), ("::1", true), ("::2", false),
            ("::", false),
        ] as [(String, Bool)])
    func knowsLoopback(_ text: String, _ isLoopback: Bool) {
        #expect(IPAddress(text)?.isLoopback == isLoopback)
    }

    @Test(
        arguments: [
            ("192.168.0.0/16", "192.168.255.1", true), ("192.168.0.0/16", "192.169.0.1", false),
            ("10.0.0.0/9", "10.127.0.1", true),
            ("10.0.0.0/9", "10.128.0.1", false), ("0.0.0.0/0", "8.8.8.8", true), ("1.2.3.4", "1.2.3.4", true),
            ("1.2.3.4", "1.2.3.5", false), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
            ("::/0", "::1", true),
            ("0.0.0.0/0", "::1", false),
        ] as [(String, String, Bool)])
    func blocksContainTheirAddresses(_ block: String, _ address: String, _ isInside: Bool) throws {
        #expect(try #require(CIDRBlock(block)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: ["", "1.2.3.4/33", "1.2.3.4/-1", "::/129", "1.2.3.4/8/8", "1.2.3.4/", "a.example/8"])
    func refusesMalformedBlocks(_ text: String) {
        #expect(CIDRBlock(text) == nil)
    }
}

@Suite struct ProxyRuleTests {
    static let environment = [
        "http_proxy": "http://p:1", "HTTPS_PROXY": "http://q:2",
        "NO_PROXY": "internal.example, .corp.example,10.0.0.0/8,[bad],fd00::/8",
    ]

    @Test(
        arguments: [
            ("http://a.example/", "http://p:1"), ("https://a.example/", "http://q:2"),
            ("https://internal.example/", nil),
            ("https://x.internal.example/", nil), ("https://notinternal.example/", "http://q:2"),
            ("https://corp.example/", nil),
            ("https://a.corp.example/", nil), ("https://CORP.example/", nil), ("http://10.2.3.4:81/", nil),
            ("http://11.2.3.4/", "http://p:1"),
            ("http://[fd12::1]/", nil), ("http://[fe12::1]/", "http://p:1"),
        ] as [(String, String?)])
    func followsTheEnvironment(_ url: String, _ proxy: String?) throws {
        let origin = try #require(Origin(url: url))
        #expect(ProxyRule(environment: Self.environment).proxy(for: origin) == proxy)
    }

    @Test func allProxyStandsInForBothAndEmptyIsNone() throws {
        let origins = try ["http://a.example", "https://a.example"].map { try #require(Origin(url: $0)) }
        #expect(
            origins.map(ProxyRule(environment: ["ALL_PROXY": "socks5://s:3"]).proxy) == [
                "socks5://s:3", "socks5://s:3",
            ])
        #expect(origins.map(ProxyRule(environment: ["all_proxy": "", "http_proxy": ""]).proxy) == [nil, nil])
        #expect(origins.map(ProxyRule.none.proxy) == [nil, nil])
    }

    @Test func upperCaseHTTPProxyIsIgnored() throws {
        // A CGI program receives this variable from the Proxy field of a request.
        #expect(ProxyRule(environment: ["HTTP_PROXY": "http://evil:1"]).http == nil)
    }

    @Test func anAsteriskSwitchesProxiesOff() throws {
        let rule = ProxyRule(http: "http://p:1", exceptions: ["*"])
        #expect(rule.proxy(for: try #require(Origin(url: "http://a.example"))) == nil)
    }
}
