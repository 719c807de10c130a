import Testing

@testable import TransferCore

/// Small rules for the spellings of other programs.
@Suite struct SpellingRuleTests {
    @Test(
        arguments: [
            ("HTTP/2 stream 1 was not closed cleanly", "HTTP/2 stream 1 was not closed cleanly"),
            ("Connection reset by peer", "connection reset by peer"),
            ("OpenSSL SSL_read: error", "OpenSSL SSL_read: error"),
            ("SSL_connect failed", "SSL_connect failed"),
            ("TLS alert", "TLS alert"),
            ("DNS server failed", "DNS server failed"),
            ("FTP: weird server reply", "FTP: weird server reply"), ("SSH: broken", "SSH: broken"),
            ("Input/output error", "input/output error"), ("I/O error", "I/O error"), ("No such file", "no such file"),
            ("Recv failure: Connection reset", "recv failure: Connection reset"), ("", ""), ("é", "é"),
        ] as [(String, String)])
    func namesKeepTheirCaseInAMessage(_ text: String, _ expected: String) {
        #expect(text.lowercasedFirst == expected)
    }

    @Test(
        arguments: [
            ("ftp://h/f.bin;type=i", "ftp://h/f.bin", .image), ("FTP://h/f.bin;TYPE=I", "FTP://h/f.bin", .image),
            ("ftps://h/f.bin;type=a", "ftps://h/f.bin", .text), ("ftp://h/d;type=d", "ftp://h/d", .listing),
            ("ftp://h/f;type=i#x", "ftp://h/f#x", .image),
        ] as [(String, String, FTPTypeCode)])
    func anFTPTypeIsNoPartOfTheName(_ url: String, _ plain: String, _ type: FTPTypeCode) throws {
        let split = try #require(FTPTypeCode.split(url))
        #expect(split.url == plain && split.type == type)
        #expect(SafeFileName.fromURL(url) == SafeFileName.fromURL(plain))
        #expect(try URLSpelling.canonical(url) == plain && !URLSpelling.isCanonical(url))
    }

    @Test(arguments: [
        "sftp://h/f;type=i", "http://h/f;type=i", "ftp://h/f;type=x", "ftp://h/f%3Btype=i", "ftp://h/f;type=i/g",
        "ftp://h/",
        "f;type=i",
    ])
    func outsideFTPTheTypeIsPartOfTheName(_ url: String) { #expect(FTPTypeCode.split(url) == nil) }

    @Test func anEmptyLoginIsAnAccount() {
        let netrc = Netrc("machine h login \"\" password token\nmachine g password alone")
        #expect(netrc.entry(of: "h") == Netrc.Entry(machine: "h", login: "", password: "token"))
        #expect(netrc.entry(of: "g")?.login == nil && netrc.entry(of: "g")?.password == "alone")
    }
}
