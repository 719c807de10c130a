import Testing
import TransferCore

@Suite struct HostNameTests {
    @Test(
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("b%C3%BCcher.example", "xn--bcher-kva.example"), ("bu\u{308}cher.example", "xn--bcher-kva.example"),
            ("bücher.example.", "xn--bcher-kva.example."), ("faß.example", "xn--fa-hia.example"),
            ("βόλος.example", "xn--nxasmm1c.example"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("ｂｏｏｋｓ．example", "books.example"), ("שלום.example", "xn--9dbne9b.example"),
            // Symbols, which browsers accept.
            ("☃.example", "xn--n3h.example"), ("i❤.example", "xn--i-7iq.example"),
            // Labels in ASCII are not restricted, since such names exist.
            ("my_host.bücher.example", "my_host.xn--bcher-kva.example"),
            ("r3---sn-4g5e.bücher.example", "r3---sn-4g5e.xn--bcher-kva.example"),
            ("-a-.bücher.example", "-a-.xn--bcher-kva.example"), ("Under_Score.example", "under_score.example"),
            ("r3---sn-4g5e.example", "r3---sn-4g5e.example"), ("xn--.example", "xn--.example"),
            ("127.0.0.1", "127.0.0.1"), ("１２７.0.0.1", "127.0.0.1"), ("::1", "::1"),
            ("FE80::1%25eth0", "fe80::1%25eth0"),
            ("exa%6Dple.com", "example.com"),
        ] as [(String, String)])
    func aNameHasOneForm(_ name: String, _ form: String) throws {
        #expect(try HostName.asciiForm(of: name) == form)
        // A name that already has the form is unchanged.
        #expect(try HostName.asciiForm(of: form) == form)
    }

    @Test(arguments: [
        // Such names would be parsed as a path, a port or a user.
        "℀.example", "a％2fb.example", "ü／x.example", "ü：80.example", "ü＠x.example", "a%2Fb.example", "a%00.example",
        "a%20b.example", "ü..example", ".ü.example", "。", "ü\u{202E}.example", "\u{301}a.example", "%FF.example",
        "xn--ü.example", "1שלום.example", "a\u{200D}ü.example", String(repeating: "ü", count: 64) + ".example",
        String(repeating: "ü.", count: 100),
    ])
    func aNameThatIsNoneHasNoForm(_ name: String) {
        #expect(throws: HostName.Fault.self) { try HostName.asciiForm(of: name) }
    }

    @Test func anOriginIsTheSameInEachSpelling() {
        let origins = ["http://bücher.example/x", "http://u@BÜCHER.example:80?x", "http://xn--bcher-kva.example"]
        #expect(Set(origins.map { Origin(url: $0)?.description }) == ["http://xn--bcher-kva.example"])
        #expect(Origin(fileServerURL: "sftp://bücher.example")?.host == "xn--bcher-kva.example")
        #expect(Origin(url: "http://℀.example/") == nil)
        #expect(Origin(url: "http://[fe80::1%25ETH0]/")?.host == "fe80::1%25eth0")
    }

    @Test(
        arguments: [
            ("http://h/a b?c d#e f", "http://h/a%20b?c%20d#e%20f"), ("http://h/ü", "http://h/%C3%BC"),
            ("http://h/%20%ü", "http://h/%20%%C3%BC"), ("http://h/<\">", "http://h/%3C%22%3E"),
            ("http://bücher.example:8080/ü", "http://xn--bcher-kva.example:8080/%C3%BC"),
            ("HTTP://u:p@Bücher.example", "HTTP://u:p@xn--bcher-kva.example"), ("//ü.example/x", "//xn--tda.example/x"),
            ("/ü//é b", "/%C3%BC//%C3%A9%20b"), ("ü", "%C3%BC"), ("?ü://ö", "?%C3%BC://%C3%B6"),
            ("s3://bucket/ü b", "s3://bucket/%C3%BC%20b"), ("sftp://ü.example/~/a b", "sftp://xn--tda.example/~/a%20b"),
            ("http://[::1]:80/ü", "http://[::1]:80/%C3%BC"), ("http://exa%6Dple.com/%6D", "http://example.com/%6D"),
            ("http://h/e\u{301} \u{301}", "http://h/e%CC%81%20%CC%81"), ("", ""),
            // A valid URL is unchanged, even in the case of its host.
            ("HTTP://H/a%2fb?c=%7e{}|", "HTTP://H/a%2fb?c=%7e{}|"),
        ] as [(String, String)])
    func aURLHasOneSpelling(_ url: String, _ spelling: String) throws {
        #expect(try URLSpelling.canonical(url) == spelling)
        #expect(try URLSpelling.canonical(spelling) == spelling)
    }

    @Test func aURLWhoseHostIsNoNameHasNoSpelling() {
        #expect(
            URLSpelling.fault(of: "http://a℀b.example/") != nil && URLSpelling.fault(of: "http://ü.example/℀") == nil)
        #expect(URLSpelling.canonicalIfPossible("http://℀/x y") == "http://℀/x y")
    }

    @Test(arguments: [
        "bücher.example", ".bücher.example", "*.BÜCHER.example", "b%C3%BCcher.example", "xn--bcher-kva.example",
    ])
    func exceptionsOfAProxyAreCompared(_ exception: String) throws {
        let rule = ProxyRule(http: "http://p:1", exceptions: ProxyRule.list(exception))
        for host in ["bücher.example", "a.xn--bcher-kva.example"] {
            #expect(rule.proxy(for: try #require(Origin(url: "http://\(host)/"))) == nil, "\(host)")
        }
        #expect(rule.proxy(for: try #require(Origin(url: "http://bucher.example/"))) != nil)
    }

    @Test func aProxyMayHaveSuchAName() throws {
        #expect(ProxyAddress("http://u:p@Bücher.example:3128").host == "xn--bcher-kva.example")
        #expect(try ProxyAddress.canonical("bücher.example:3128") == "http://xn--bcher-kva.example:3128")
        #expect(try ProxyAddress.canonical("socks5h://ü.example") == "socks5h://xn--tda.example")
        #expect(try ProxyAddress.canonical("proxy:3128") == "proxy:3128")
    }

    @Test func aRelativeReferenceIsResolvedToTheOneSpelling() {
        #expect(
            URLReference.resolve("//bücher.example/ü", against: "https://h/x") == "https://xn--bcher-kva.example/%C3%BC"
        )
        #expect(
            URLReference.resolve("ä", against: "https://bücher.example/x/y") == "https://xn--bcher-kva.example/x/%C3%A4"
        )
    }
}
