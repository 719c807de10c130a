import Foundation
import FoundationNetworking
import Testing
import TransferEngine
import TransferTestSupport

@testable import TransferNetworking

/// The rules of RFC 6265 and RFC 6265bis, without a network.
@Suite("Cookie rules")
struct CookieRulesTests {
    private static let now = 1_700_000_000.0

    /// Returns the cookies that a store sends after a server has set cookies.
    private func sent(_ fields: [String], by setter: String, to getter: String, after seconds: Double = 0) -> String? {
        let store = CookieStore()
        guard let from = CookieOrigin(setter), let to = CookieOrigin(getter) else { return "not a URL" }
        store.receive(fields, from: from, now: Self.now)
        return StoredCookie.field(store.cookies(for: to, now: Self.now + seconds))
    }

    // MARK: Dates (RFC 6265 §5.1.1)

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06 Nov 1994 08:49:37", 784_111_777),
            ("1994 Nov 6 8:49:37", 784_111_777), ("08:49:37 6-NOVEMBER-94", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 PST", 784_111_777), ("nov;06;1994;08:49:37junk", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("01 Jan 70 00:00:00", 0), ("1 Jan 69 0:0:0", 3_124_224_000),
            ("29 Feb 2024 12:00:00", 1_709_208_000), ("31 Dec 9999 23:59:59", 253_402_300_799),
            ("1 Jan 1601 00:00:00", -11_644_473_600), ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        ] as [(String, Int64)])
    func datesAreReadWordByWord(_ text: String, _ seconds: Int64) {
        #expect(CookieDate.parse(text) == seconds)
    }

    @Test(arguments: [
        "", "tomorrow", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37",
        "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 2023 08:49:37", "00 Nov 1994 08:49:37",
        "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
        "06 Nov 19941 08:49:37", "006 Nov 1994 08:49:37", "06 Nov 1994 08:49", "06 Nov 1994 108:49:37",
    ])
    func invalidDatesAreIgnored(_ text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    // MARK: Fields (RFC 6265 §5.2)

    @Test(
        arguments: [
            ("a=1", "a", "1"), ("  a = 1  ; Path=/", "a", "1"), ("a=", "a", ""), ("a=b=c", "a", "b=c"),
            ("a=\"x y\"", "a", "\"x y\""), ("a=1, b=2", "a", "1, b=2"), ("A=ä", "A", "ä"), ("a\t=\t1", "a", "1"),
            ("a=1;;;", "a", "1"),
        ] as [(String, String, String)])
    func aPairIsReadAsItStands(_ field: String, _ name: String, _ value: String) {
        let read = SetCookieField(field)
        #expect(read?.name == name && read?.value == value)
    }

    @Test(arguments: ["", ";", "=1", " =1", "novalue", "novalue; Path=/", "a=\u{1}", "a=1; Path=\u{7F}", "a\r=1"])
    func fieldsWithoutANameOrWithControlCharactersAreIgnored(_ field: String) {
        #expect(SetCookieField(field) == nil)
    }

    @Test func nameAndValueMayHave4096Bytes() {
        let value = String(repeating: "x", count: 4095)
        #expect(SetCookieField("a=\(value)")?.value == value)
        #expect(SetCookieField("aa=\(value)") == nil)
        let long = SetCookieField("a=1; Path=/\(String(repeating: "x", count: 1024)); Secure")
        #expect(long?.path == nil && long?.isSecure == true, "an attribute of more than 1024 bytes is ignored")
    }

    @Test func attributesAreReadWithoutRegardToCaseAndTheLastOneCounts() {
        let field = SetCookieField(
            "a=1; path=/x; PATH=/y; Domain=A.Example; domain=.B.Example; SECURE; httponly=no; sameSITE=LAX; unknown=1")
        #expect(field?.path == "/y" && field?.domain == "b.example")
        #expect(field?.isSecure == true && field?.isHTTPOnly == true && field?.sameSite == .lax)
        let plain = SetCookieField("a=1; SameSite=odd; Expires=never; Max-Age=1x; Max-Age=+5; Max-Age=")
        #expect(plain?.sameSite == nil && plain?.expires == nil && plain?.maxAge == nil)
        #expect(SetCookieField("a=1; Max-Age=-99999999999999999999")?.maxAge == -1)
        #expect(SetCookieField("a=1; Max-Age=99999999999999999999")?.maxAge == .max)
        #expect(SetCookieField("a=1; Max-Age=5; Max-Age=x")?.maxAge == 5)
    }

    // MARK: Domains (§5.1.3, §5.3)

    @Test(
        arguments: [
            // Columns: the field of the answer, the URL that sets it, the URL that asks, and whether the cookie is
            // sent.
            ("a=1", "http://example.com/", "http://example.com/", true),
            ("a=1", "http://example.com/", "http://www.example.com/", false),
            ("a=1; Domain=example.com", "http://example.com/", "http://www.example.com/", true),
            ("a=1; Domain=.example.com", "http://www.example.com/", "http://example.com/", true),
            ("a=1; Domain=example.com", "http://www.example.com/", "http://a.b.example.com/", true),
            ("a=1; Domain=.xn--bcher-kva.example", "http://www.BÜCHER.example/", "http://bücher.example/", true),
            ("a=1", "http://bücher.example/", "http://xn--bcher-kva.example/", true),
            ("a=1; Domain=EXAMPLE.com", "http://WWW.example.COM/", "http://example.com/", true),
            ("a=1; Domain=example.com", "http://example.com/", "http://badexample.com/", false),
            ("a=1; Domain=www.example.com", "http://example.com/", "http://www.example.com/", false),
            ("a=1; Domain=other.com", "http://example.com/", "http://other.com/", false),
            ("a=1; Domain=other.com", "http://example.com/", "http://example.com/", false),
            ("a=1; Domain=ample.com", "http://example.com/", "http://example.com/", false),
            ("a=1; Domain=", "http://example.com/", "http://www.example.com/", false),
            ("a=1; Domain=", "http://example.com/", "http://example.com/", true),
            // Public suffixes.
            ("a=1; Domain=com", "http://example.com/", "http://other.com/", false),
            ("a=1; Domain=com", "http://example.com/", "http://example.com/", false),
            ("a=1; Domain=co.uk", "http://shop.co.uk/", "http://shop.co.uk/", false),
            ("a=1; Domain=github.io", "http://me.github.io/", "http://you.github.io/", false),
            ("a=1; Domain=github.io", "http://github.io/", "http://github.io/", true),
            ("a=1; Domain=github.io", "http://github.io/", "http://you.github.io/", false),
            ("a=1; Domain=localhost", "http://localhost/", "http://localhost/", true),
            ("a=1; Domain=localhost", "http://localhost/", "http://a.localhost/", false),
            ("a=1; Domain=shop.co.uk", "http://www.shop.co.uk/", "http://shop.co.uk/", true),
            // A wildcard rule and its exception.
            ("a=1; Domain=foo.ck", "http://a.foo.ck/", "http://a.foo.ck/", false),
            ("a=1; Domain=www.ck", "http://a.www.ck/", "http://www.ck/", true),
            // Addresses have no domains above or below them.
            ("a=1", "http://127.0.0.1/", "http://127.0.0.1:8080/", true),
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", true),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", false),
            ("a=1", "http://[::1]/", "http://[::1]/", true),
            ("a=1; Domain=0.0.1", "http://x.0.0.1/", "http://127.0.0.1/", false),
            // Names in other scripts, as punycode.
            ("a=1", "http://bücher.example/", "http://xn--bcher-kva.example/", true),
            ("a=1; Domain=xn--bcher-kva.example", "http://www.bücher.example/", "http://bücher.example/", true),
            ("a=1; Domain=bücher.example", "http://bücher.example/", "http://bücher.example/", false),
            // The port and the scheme make no difference (§8.5, §8.6).
            ("a=1", "http://example.com:81/", "https://example.com:444/", true),
        ] as [(String, String, String, Bool)])
    func domainsDecideWhoGetsACookie(_ field: String, _ setter: String, _ getter: String, _ isSent: Bool) {
        #expect(sent([field], by: setter, to: getter) == (isSent ? "a=1" : nil))
    }

    // MARK: Paths (§5.1.4)

    @Test(
        arguments: [
            ("a=1", "/d/x", "/d/y", true), ("a=1", "/d/x", "/d", true), ("a=1", "/d/x", "/", false),
            ("a=1", "/d/x", "/dd", false), ("a=1", "/d/", "/d/e/f", true), ("a=1", "/x", "/anything", true),
            ("a=1", "/", "/x", true), ("a=1", "", "/x?y", true), ("a=1", "?q=/d/e", "/x", true),
            ("a=1; Path=/p", "/d/x", "/p", true), ("a=1; Path=/p", "/d/x", "/p/q", true),
            ("a=1; Path=/p", "/d/x", "/pq", false), ("a=1; Path=/p/", "/d/x", "/p", false),
            ("a=1; Path=/p/", "/d/x", "/p/q", true), ("a=1; Path=p", "/d/x", "/d/y", true),
            ("a=1; Path=", "/d/x", "/d/y", true), ("a=1; Path=/p", "/d/x", "/P", false),
            ("a=1; Path=/p", "/d/x", "/p?q", true),
        ] as [(String, String, String, Bool)])
    func pathsDecideWhichRequestsGetACookie(_ field: String, _ setter: String, _ getter: String, _ isSent: Bool) {
        #expect(
            sent([field], by: "http://a.example\(setter)", to: "http://a.example\(getter)") == (isSent ? "a=1" : nil))
    }

    // MARK: Time

    @Test(
        arguments: [
            ("a=1", 1e9, true), ("a=1; Max-Age=10", 9, true), ("a=1; Max-Age=10", 10, false),
            ("a=1; Max-Age=0", 0, false), ("a=1; Max-Age=-1", 0, false),
            ("a=1; Expires=Tue, 14 Nov 2023 22:13:30 GMT", 9, true),
            ("a=1; Expires=Tue, 14 Nov 2023 22:13:30 GMT", 10, false),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, false),
            // Max-Age wins, wherever it stands.
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10", 9, true),
            ("a=1; Max-Age=10; Expires=Thu, 01 Jan 2099 00:00:00 GMT", 11, false),
            ("a=1; Expires=soon", 1e9, true),
            // 400 days at the most (RFC 6265bis §5.5).
            ("a=1; Max-Age=99999999999", 400 * 86_400 - 1, true), ("a=1; Max-Age=99999999999", 400 * 86_400, false),
            ("a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * 86_400, false),
        ] as [(String, Double, Bool)])
    func cookiesEnd(_ field: String, _ seconds: Double, _ isSent: Bool) {
        let url = "http://a.example/"
        #expect(sent([field], by: url, to: url, after: seconds) == (isSent ? "a=1" : nil))
    }

    @Test func anExpiredCookieTakesItsPredecessorAwayAndNoOther() {
        let url = "http://a.example/"
        #expect(sent(["a=1", "b=2", "a=x; Max-Age=0"], by: url, to: url) == "b=2")
        #expect(sent(["a=1", "a=x; Path=/p; Max-Age=0"], by: url, to: url) == "a=1")
    }

    // MARK: Secure cookies (§4.1.2.5, RFC 6265bis §5.7)

    @Test(
        arguments: [
            ("a=1; Secure", "https://a.example/", "https://a.example/", true),
            ("a=1; Secure", "https://a.example/", "http://a.example/", false),
            ("a=1; Secure", "http://a.example/", "https://a.example/", false),
            ("a=1; SameSite=None", "https://a.example/", "https://a.example/", false),
            ("a=1; SameSite=None; Secure", "https://a.example/", "https://a.example/", true),
            ("a=1; SameSite=Strict", "http://a.example/", "http://a.example/", true),
            ("__Secure-a=1; Secure", "https://a.example/", "https://a.example/", true),
            ("__Secure-a=1", "https://a.example/", "https://a.example/", false),
            ("__SECURE-a=1", "https://a.example/", "https://a.example/", false),
            ("__Host-a=1; Secure; Path=/", "https://a.example/", "https://a.example/", true),
            ("__Host-a=1; Secure", "https://a.example/", "https://a.example/", false),
            ("__Host-a=1; Secure; Path=/x", "https://a.example/x", "https://a.example/x", false),
            ("__Host-a=1; Path=/", "https://a.example/", "https://a.example/", false),
            (
                "__Host-a=1; Secure; Path=/; Domain=a.example.com", "https://a.example.com/", "https://a.example.com/",
                false
            ),
            ("__host-a=1; Secure", "https://a.example/", "https://a.example/", false),
        ] as [(String, String, String, Bool)])
    func secureCookiesStaySecure(_ field: String, _ setter: String, _ getter: String, _ isSent: Bool) {
        let pair = field.prefix { $0 != ";" }
        #expect(sent([field], by: setter, to: getter) == (isSent ? String(pair) : nil))
    }

    @Test(
        arguments: [
            // A plain http answer, where a secure cookie `a` of /p exists.
            ("http://www.example.com/p/x", "a=evil", "a=good"), ("http://www.example.com/p/q/x", "a=evil", "a=good"),
            ("http://example.com/p/x", "a=evil; Domain=example.com; Path=/p/q", "a=good"),
            ("http://www.example.com/p/x", "a=; Max-Age=0", "a=good"),
            ("http://www.example.com/p/x", "b=2; Path=/p", "a=good; b=2"),
            ("http://www.example.com/x", "a=other; Path=/", "a=good; a=other"),
            ("https://www.example.com/p/x", "a=new; Domain=example.com; Path=/p", "a=new"),
        ] as [(String, String, String)])
    func plainHTTPLeavesSecureCookiesAlone(_ url: String, _ field: String, _ expected: String) throws {
        let store = CookieStore()
        let secure = try #require(CookieOrigin("https://www.example.com/p/q/r"))
        store.receive(["a=good; Secure; Domain=example.com; Path=/p"], from: secure, now: Self.now)
        store.receive([field], from: try #require(CookieOrigin(url)), now: Self.now + 1)
        #expect(StoredCookie.field(store.cookies(for: secure, now: Self.now + 2)) == expected)
    }

    // MARK: Order (§5.4)

    @Test func theLongestPathComesFirstThenTheOldest() {
        let fields = ["a=1; Path=/", "b=2; Path=/p/q", "c=3; Path=/p", "d=4; Path=/p", "e=5; Path=/"]
        let url = "http://a.example/p/q/r"
        #expect(sent(fields, by: url, to: url) == "b=2; c=3; d=4; a=1; e=5")
        // A cookie that is set anew keeps its place.
        #expect(sent(fields + ["c=9; Path=/p"], by: url, to: url) == "b=2; c=9; d=4; a=1; e=5")
        // A cookie that was deleted in between does not keep its place.
        let again = fields + ["c=; Path=/p; Max-Age=0", "c=9; Path=/p"]
        #expect(sent(again, by: url, to: url) == "b=2; d=4; c=9; a=1; e=5")
    }

    @Test func nameDomainPathAndHostMakeACookie() {
        let url = "http://www.example.com/p/x"
        let fields = ["a=1", "a=2; Domain=www.example.com", "a=3; Domain=example.com", "a=4; Path=/", "A=5", "a=6"]
        #expect(sent(fields, by: url, to: url) == "a=6; a=2; a=3; A=5; a=4")
    }
}
