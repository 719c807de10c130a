import Testing
import TransferCore

@Suite struct ProxyExceptionTests {
    @Test(
        arguments: [
            // Names and their subdomains.
            ("a.example", "http://a.example/", true), ("a.example", "http://b.a.example/", true),
            ("a.example", "http://ba.example/", false), (".a.example", "http://a.example/", true),
            (".a.example", "http://b.a.example/", true), ("*.a.example", "http://b.a.example/", true),
            ("A.Example", "http://a.EXAMPLE/", true), ("a.example.", "http://a.example/", true),
            ("a.example", "http://a.example./", true), (".", "http://a.example/", false),
            ("", "http://a.example/", false),
            ("example", "http://a.example/", true), ("localhost", "http://localhost:8080/", true),
            // All hosts.
            ("*", "http://anything.example/", true), ("b.example,*", "http://anything.example/", true),
            // Ports.
            ("a.example:8080", "http://a.example:8080/", true), ("a.example:8080", "http://a.example/", false),
            ("a.example:80", "http://a.example/", true), ("a.example:443", "https://a.example/", true),
            ("10.0.0.1:81", "http://10.0.0.1:81/", true), ("10.0.0.1:81", "http://10.0.0.1:82/", false),
            ("[::1]:81", "http://[::1]:81/", true), ("[::1]:81", "http://[::1]/", false),
            // Addresses and blocks (CIDR).
            ("192.168.0.0/16", "http://192.168.7.9/", true), ("192.168.0.0/16", "http://192.169.7.9/", false),
            ("10.1.2.3", "http://10.1.2.3/", true), ("10.1.2.3", "http://10.1.2.30/", false),
            ("0.0.0.0/0", "http://8.8.8.8/", true), ("10.0.0.0/8", "http://10.example/", false),
            ("127.0.0.1/32", "http://127.0.0.1/", true), ("10.0.0.0/33", "http://10.0.0.1/", false),
            ("::1", "http://[::1]/", true), ("[::1]", "http://[::1]/", true), ("fe80::/10", "http://[febf::1]/", true),
            ("fe80::/10", "http://[fec0::1]/", false), ("2001:db8::/32", "http://[2001:0DB8:1::2]/", true),
            // An address has no parent domain.
            ("0.1", "http://10.0.0.1/", false), ("10.0.0.0/8", "http://[::1]/", false),
        ] as [(String, String, Bool)])
    func decidesWhatGoesStraight(_ list: String, _ url: String, _ isStraight: Bool) throws {
        let rule = ProxyRule(http: "http://p:1", https: "http://p:1", exceptions: ProxyRule.list(list))
        let way = rule.proxy(for: try #require(Origin(url: url)))
        #expect((way == nil) == isStraight, "\(list) \(url)")
    }

    @Test(
        arguments: [
            ("http://p:8080", "http", "p", 8080, false), ("p", "http", "p", 1080, false),
            ("HTTPS://P.example", "https", "p.example", 443, false), ("socks5h://u:p%40@s:1/", "socks5h", "s", 1, true),
            ("http://[::1]:3128", "http", "::1", 3128, false), ("https://[fe80::1]", "https", "fe80::1", 443, false),
            ("u:p@host:9", "http", "host", 9, true), ("http://u@p@host", "http", "host", 1080, true),
        ] as [(String, String, String, Int, Bool)])
    func aProxysURLHasItsParts(_ url: String, _ scheme: String, _ host: String, _ port: Int, _ hasCredentials: Bool) {
        let address = ProxyAddress(url)
        #expect(address.scheme == scheme && address.host == host && address.port == port)
        #expect(address.hasCredentials == hasCredentials)
        #expect(!"\(address)".contains("@"))
    }

    @Test func onlyPlainSOCKSNeedsTheServersAddress() {
        let looking = ["http", "https", "socks5h", "socks4a", "socks5", "socks4"].filter {
            ProxyAddress("\($0)://p").looksUpNames
        }
        #expect(looking == ["http", "https", "socks5h", "socks4a"])
    }

    @Test func aDescriptionHasNoCredentials() {
        #expect(!"\(ProxyRule(http: "http://u:secret@p:1", exceptions: ["a"]))".contains("secret"))
    }
}
