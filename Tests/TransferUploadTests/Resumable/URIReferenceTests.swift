import Testing

@testable import TransferUpload

struct URIReferenceTests {
    /// The examples of RFC 3986 §5.4, with the base "http://a/b/c/d;p?q".
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"), ("http:g", "http:g"),
    ])
    func resolvesAsTheStandardsExamples(reference: String, target: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(URIReference(reference).resolved(against: base).text == target)
    }

    @Test(arguments: [
        ("/uploads/1", "https://h.example:8443/uploads/1"), ("1?x=y#z", "https://h.example:8443/in/1?x=y"),
        ("//other.example", "https://other.example/"), ("HTTP://me:pw@o.example/u", "http://o.example/u"),
        ("/f\u{FC}", "https://h.example:8443/f%C3%BC"),
    ])
    func leadsALocationFromTheRequestWithoutSecrets(location: String, target: String) {
        #expect(URIReference.location(location, from: "https://me:pw@h.example:8443/in/a.bin?q") == target)
    }

    @Test(arguments: ["", "ftp://h/x", "javascript:1", "https:///x", "https://:80/x", "/a b", "/a\u{7F}"])
    func leadsNowhereWithALocationThatIsNoHTTPURL(location: String) {
        #expect(URIReference.location(location, from: "https://h.example/in/") == nil)
    }
}
