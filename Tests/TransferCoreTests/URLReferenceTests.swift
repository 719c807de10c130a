import Testing
import TransferCore

@Suite struct URLReferenceTests {
    /// RFC 3986 §5.4, with the fragments left out.
    @Test(
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"), ("http:g", "http:g"),
        ] as [(String, String)])
    func resolvesTheExamplesOfTheRFC(_ reference: String, _ expected: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
    }

    @Test(
        arguments: [
            ("u1", "https://h:8443", "https://h:8443/u1"),
            ("u1", "https://h/files", "https://h/u1"),
            ("u1", "https://h/files/", "https://h/files/u1"),
            ("/files/a:b", "https://h/x", "https://h/files/a:b"),
            ("?id=1", "https://h", "https://h?id=1"),
            ("/x", "https://[::1]:80/y?a=/b", "https://[::1]:80/x"),
            ("//o.example:1/x", "https://h/y", "https://o.example:1/x"),
            ("HTTPS://H/x", "http://a/", "HTTPS://H/x"),
            ("/a//b", "http://h/", "http://h/a//b"),
            ("/e\u{301} \u{301}/<x>", "http://h/", "http://h/e%CC%81%20%CC%81/%3Cx%3E"),
            ("/x", "http://user:p@ss@h/y", "http://h/x"),
            ("http://evil:pw@h/x", "http://a/", "http://h/x"),
        ] as [(String, String, String)])
    func resolvesWhatServersSend(_ reference: String, _ base: String, _ expected: String) {
        #expect(URLReference.resolve(reference, against: base) == expected)
    }

    @Test(arguments: ["", "/files", "files/x", "mailto:a@b"])
    func needsABaseWithAHost(_ base: String) {
        #expect(URLReference.resolve("x", against: base) == nil)
    }
}
