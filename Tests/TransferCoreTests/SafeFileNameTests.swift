import Testing
import TransferCore

@Suite struct SafeFileNameTests {
    @Test(
        arguments: [
            ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"),
            (#"..\..\boot.ini"#, "boot.ini"),
            (#"C:\x\y.txt"#, "y.txt"), ("a\u{0}b.txt", "a_b.txt"), ("a\nb\u{1B}[31m.txt", "a_b_[31m.txt"),
            ("\u{7F}\u{9B}x", "__x"),
            (".bashrc", "_bashrc"), ("..hidden", "_.hidden"), ("name. . ", "name"), ("  name", "name"),
            ("a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"),
            ("CON", "_CON"), ("con.txt", "_con.txt"), ("aux.tar.gz", "_aux.tar.gz"), ("COM1", "_COM1"),
            ("lpt9.log", "_lpt9.log"),
            ("COM10", "COM10"), ("console", "console"), ("photo\u{202E}gpj.exe", "photo_gpj.exe"),
            ("a\u{200B}b", "a_b"),
            ("\u{FEFF}x", "_x"), ("naïve €.txt", "naïve €.txt"), ("日本語.zip", "日本語.zip"), ("dir/", "dir"),
            ("-rf", "-rf"),
            ("a\r\nb", "a__b"), ("%2e%2e%2fx", "%2e%2e%2fx"),
        ] as [(String, String)])
    func makesNamesSafe(_ name: String, _ safe: String) {
        #expect(SafeFileName.make(name) == safe)
        #expect(SafeFileName.make(safe) == safe, "a safe name stays")
    }

    @Test(arguments: ["", ".", "..", "...", "/", "//", "a/..", "a/.", " ", ". .", "\\", "../"])
    func saysWhenNothingIsLeft(_ name: String) {
        #expect(SafeFileName.make(name) == nil)
    }

    @Test func neverLeavesASlash() {
        // A slash with a combining mark is a Character that differs from "/".
        for name in ["../\u{301}x", "a/\u{338}b", "..\\\u{20DD}x", "/\u{200D}/\u{FE0F}"] {
            let bytes = SafeFileName.make(name).map { Array($0.utf8) } ?? []
            #expect(!bytes.contains(UInt8(ascii: "/")) && !bytes.contains(UInt8(ascii: "\\")), "\(name)")
        }
    }

    @Test func noNameHurtsWhateverTheServerSends() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "/", "\\", ".", "..", "\u{0}", "\u{301}", "a", " ", "con", "\u{202E}", "é", "\n", ":", "~",
            String(repeating: "x", count: 90),
        ]
        for _ in 0..<5000 {
            let name = (0..<Int.random(in: 0...8)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let safe = SafeFileName.make(name) else { continue }
            let bytes = Array(safe.utf8)
            #expect(!bytes.isEmpty && bytes.count <= 255, "\(name.debugDescription)")
            #expect(bytes.first != UInt8(ascii: "."), "\(name.debugDescription)")
            #expect(
                bytes.allSatisfy { $0 >= 0x20 && $0 != 0x2F && $0 != 0x5C && $0 != 0x7F }, "\(name.debugDescription)")
        }
    }

    @Test func longNamesKeepTheirExtension() throws {
        let safe = try #require(SafeFileName.make(String(repeating: "é", count: 400) + ".tar"))
        #expect(safe == String(repeating: "é", count: 125) + ".tar")
        let noExtension = try #require(SafeFileName.make("a." + String(repeating: "b", count: 400)))
        #expect(noExtension.utf8.count == 255)
        let oneCharacter = try #require(SafeFileName.make("a" + String(repeating: "\u{301}", count: 400) + ".tar"))
        #expect(oneCharacter.unicodeScalars.starts(with: "a\u{301}".unicodeScalars))
        #expect(oneCharacter.utf8.count <= 255 && oneCharacter.hasSuffix(".tar"))
    }

    @Test(
        arguments: [
            ("http://a.example/x/y.iso?sig=1", nil, "y.iso"), ("http://a.example/x/", nil, "index.html"),
            ("http://a.example", nil, "index.html"), ("http://a.example/%2e%2e%2fetc%2fpasswd", nil, "passwd"),
            ("http://a.example/a%20b%00.txt#f", nil, "a b_.txt"),
            ("http://a.example/x", "attachment; filename=\"../../n.txt\"", "n.txt"),
            ("http://a.example/x", "attachment; filename=\"..\"", "x"), ("http://a.example/x", "inline", "x"),
            ("http://a.example/?file=/y", nil, "index.html"),
        ] as [(String, String?, String)])
    func downloadsGetAName(_ url: String, _ disposition: String?, _ name: String) {
        #expect(SafeFileName.forDownload(url: url, disposition: disposition) == name)
    }
}
