import CTransferCurl
import Glibc
import Testing
import TransferCore

@testable import TransferEngine

/// Returns the head of an answer with these fields.
func head(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) -> ResponseHead {
    ResponseHead(status: status, fields: fields.map { HeaderField($0.key, $0.value) })
}

@Suite struct RedirectRuleTests {
    static let base = Hop(
        url: "https://a.example/x", method: "GET",
        headers: [
            HeaderField("Authorization", "secret"), HeaderField("Cookie", "secret"), HeaderField("X-Api-Key", "secret"),
            HeaderField("Accept", "*/*"), HeaderField("Accept-Encoding", "identity"), HeaderField("User-Agent", "t"),
            HeaderField("Range", "bytes=1-"), HeaderField("If-Range", "\"a\""), HeaderField("If-None-Match", "\"a\""),
            HeaderField("Referer", "https://a.example/secret"), HeaderField("X-Team", "t"),
            HeaderField("Proxy-Authorization", "secret"),
        ], sendsBody: false)

    /// RFC 9110 §15.4.
    @Test(
        arguments: [
            (301, "GET", "GET", false), (302, "GET", "GET", false), (303, "GET", "GET", false),
            (307, "GET", "GET", false),
            (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
            (307, "POST", "POST", true),
            (308, "POST", "POST", true), (301, "PUT", "PUT", true), (302, "PUT", "PUT", true),
            (303, "PUT", "GET", false),
            (307, "PUT", "PUT", true), (303, "HEAD", "HEAD", false), (301, "HEAD", "HEAD", false),
            (308, "DELETE", "DELETE", false),
            (303, "DELETE", "GET", false), (308, "PATCH", "PATCH", true),
        ] as [(Int, String, String, Bool)])
    func rewritesMethods(_ status: Int, _ method: String, _ next: String, _ sendsBody: Bool) throws {
        var hop = Self.base
        hop.method = method
        hop.sendsBody = ["POST", "PUT", "PATCH"].contains(method)
        hop.headers = [HeaderField("Content-Type", "text/plain"), HeaderField("X", "1")]
        var rule = RedirectRule(limit: 1)
        let result = try rule.follow(hop, status: status, to: "https://a.example/y")
        #expect(result.method == next && result.sendsBody == sendsBody && result.url == "https://a.example/y")
        let keepsType = result.headers.value("Content-Type") != nil
        #expect(keepsType == (next == method && (status != 303 || method == "HEAD")))
        #expect(result.headers.value("X") == "1")
    }

    /// Rows: the status, the method, whether a body is sent, whether the method stays, and the effect. A POST stays one at
    /// 301 here.
    @Test(
        arguments: [
            (302, "POST", true, false, .turned), (302, "POST", true, true, .emptied),
            (302, "POST", false, true, .none), (303, "PUT", true, true, .emptied), (303, "DELETE", false, true, .none),
            (301, "POST", true, false, .none), (301, "POST", true, true, .none), (301, "POST", false, false, .turned),
            (302, "PUT", true, false, .none), (302, "PUT", true, true, .emptied), (307, "POST", true, true, .none),
            (303, "GET", false, false, .turned), (303, "HEAD", false, false, .none),
        ] as [(Int, String, Bool, Bool, RedirectMethods.Effect)])
    func methodsDeviateAsTheToolsDo(
        _ status: Int, _ method: String, _ sendsBody: Bool, _ keepsMethod: Bool, _ effect: RedirectMethods.Effect
    ) {
        var methods = RedirectMethods()
        methods.keepsMethod = keepsMethod
        methods.keepsPost = [301]
        #expect(methods.effect(of: status, on: method, sendsBody: sendsBody) == effect)
    }

    @Test(arguments: [
        "https://b.example/x", "http://a.example/x", "https://a.example:444/x", "https://sub.a.example/x",
        "https://a.example.evil.example/x",
    ])
    func onlyHarmlessFieldsCrossOrigins(_ target: String) throws {
        var rule = RedirectRule(limit: 10)
        let next = try rule.follow(Self.base, status: 302, to: target)
        #expect(
            next.headers.map(\.name) == [
                "Accept", "Accept-Encoding", "User-Agent", "Range", "If-Range", "If-None-Match",
            ])
        #expect(!next.sendsCredentials)
        let back = try rule.follow(next, status: 302, to: Self.base.url)
        #expect(!back.sendsCredentials && back.headers == next.headers, "what was dropped does not come back")
    }

    @Test(arguments: ["https://a.example/other", "https://a.example:443/x", "HTTPS://A.EXAMPLE/x"])
    func everythingStaysWithinAnOrigin(_ target: String) throws {
        var rule = RedirectRule(limit: 10)
        let next = try rule.follow(Self.base, status: 302, to: target)
        #expect(next.headers == Self.base.headers && next.sendsCredentials)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://a.example/x", "gopher://a.example/", "data:text/plain,x", "javascript:1",
        "https:///x", "x",
    ])
    func onlyHTTPIsFollowed(_ target: String) {
        var rule = RedirectRule(limit: 10)
        let error = #expect(throws: TransferError.self) { try rule.follow(Self.base, status: 302, to: target) }
        #expect(error?.code == .redirectRefused && error?.isTransient == false)
    }

    @Test(arguments: [nil, ""] as [String?])
    func aRedirectNeedsAPlace(_ target: String?) {
        var rule = RedirectRule(limit: 10)
        #expect(
            #expect(throws: TransferError.self) { try rule.follow(Self.base, status: 302, to: target) }?.code
                == .badResponse)
    }

    @Test(arguments: [0, 1, 10])
    func theLimitHolds(_ limit: Int) throws {
        var rule = RedirectRule(limit: limit)
        for _ in 0..<limit { _ = try rule.follow(Self.base, status: 302, to: "https://a.example/y") }
        let error = #expect(throws: TransferError.self) {
            try rule.follow(Self.base, status: 302, to: "https://u:p@a.example/y?sig=s")
        }
        #expect(error?.code == .tooManyRedirects && error?.isTransient == false)
        #expect(error?.message.contains("u:p") == false && error?.message.contains("sig=s") == false)
    }

    @Test func tenIsTheDefault() {
        #expect(ExchangeSettings().maxRedirects == 10)
        #expect((200...599).filter(RedirectRule.isRedirect) == [301, 302, 303, 307, 308])
    }

    @Test(
        arguments: [
            ("y", "http://a.example/d/y"), ("/y", "http://a.example/y"), ("../y", "http://a.example/y"),
            ("?q=1", "http://a.example/d/x?q=1"),
            ("//b.example/y", "http://b.example/y"), ("https://c.example", "https://c.example/"),
            ("y#frag", "http://a.example/d/y"),
            ("/a b", "http://a.example/a%20b"), ("./../../z", "http://a.example/z"),
            ("file:///etc/passwd", "file:///etc/passwd"),
        ] as [(String, String)])
    func relativePlacesAreResolved(_ reference: String, _ url: String) {
        #expect(CurlURL.resolve(reference, against: "http://a.example/d/x?p=0#f") == url)
    }
}

@Suite struct StatusRuleTests {
    @Test(
        arguments: [
            (404, false, TransferError.Scope.transfer), (429, true, .origin), (503, true, .transfer),
            (500, true, .transfer), (408, true, .transfer),
            (403, false, .transfer), (504, true, .transfer), (304, false, .transfer), (599, true, .transfer),
            (999, true, .transfer), (520, true, .transfer), (501, false, .transfer), (507, false, .transfer),
            (511, true, .origin),
        ] as [(Int, Bool, TransferError.Scope)])
    func saysWhetherToTryAgain(_ status: Int, _ isTransient: Bool, _ scope: TransferError.Scope) {
        let error = StatusRule.error(head(status), now: 0)
        #expect(
            error.code == .httpStatus && error.status == status && error.isTransient == isTransient
                && error.scope == scope)
        #expect(error.message.hasPrefix("\(status) ") && error.retryAfter == nil)
    }

    /// RFC 9110 §9.3.4 names 201 and 204 (or 200) for a PUT, and §15 has an unknown success count as 200.
    @Test func aPutHasStoredItsFileByFewSuccesses() {
        #expect((100..<600).filter { !(200..<300).contains($0) && StatusRule.isStored($0, method: "PUT") } == [])
        #expect(
            (200..<230).filter { !StatusRule.isStored($0, method: "PUT") } == [202, 203, 206, 207, 208, 226])
        #expect((200..<230).filter { !StatusRule.isStored($0, method: "POST") } == [202, 206])
    }

    @Test func retryAfterMakesItTheOriginsMatter() {
        let error = StatusRule.error(head(503, ["Retry-After": "42"]), now: 0)
        #expect(error.scope == .origin && error.retryAfter == .seconds(42))
        let dated = StatusRule.error(head(429, ["Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT"]), now: 40)
        #expect(dated.retryAfter == .seconds(60))
        #expect(StatusRule.error(head(503, ["Retry-After": "soon"]), now: 0).retryAfter == nil)
    }

    @Test func theServersOwnWordsAreNotShown() {
        #expect(StatusRule.error(head(404), now: 0).message == "404 Not Found")
        #expect(StatusRule.error(head(418), now: 0).message == "418 Client Error")
    }
}

@Suite struct CurlFailureTests {
    @Test(
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, false, TransferError.Code.cannotResolveHost, true, TransferError.Scope.origin),
            (CURLE_COULDNT_CONNECT, false, .cannotConnect, true, .origin),
            (CURLE_OPERATION_TIMEDOUT, false, .cannotConnect, true, .origin),
            (CURLE_OPERATION_TIMEDOUT, true, .timedOut, true, .transfer),
            (CURLE_PARTIAL_FILE, true, .connectionLost, true, .transfer),
            (CURLE_RECV_ERROR, true, .connectionLost, true, .transfer),
            (CURLE_GOT_NOTHING, true, .connectionLost, true, .transfer),
            (CURLE_HTTP2_STREAM, true, .connectionLost, true, .transfer),
            (CURLE_SSL_CONNECT_ERROR, true, .secureConnectionFailed, true, .transfer),
            (CURLE_PEER_FAILED_VERIFICATION, true, .certificateRefused, false, .transfer),
            (CURLE_SSL_PINNEDPUBKEYNOTMATCH, true, .certificateRefused, false, .transfer),
            (CURLE_SSL_CACERT_BADFILE, false, .secureConnectionFailed, false, .transfer),
            (CURLE_PROXY, false, .proxyRefused, true, .origin),
            (CURLE_URL_MALFORMAT, false, .badURL, false, .transfer),
            (CURLE_UNSUPPORTED_PROTOCOL, false, .badURL, false, .transfer),
            (CURLE_UNSUPPORTED_PROTOCOL, true, .badResponse, true, .transfer),
            (CURLE_WEIRD_SERVER_REPLY, true, .badResponse, true, .transfer),
            (CURLE_BAD_CONTENT_ENCODING, true, .badResponse, true, .transfer),
            (CURLE_OUT_OF_MEMORY, true, .badResponse, true, .transfer),
            (CURLE_OUT_OF_MEMORY, false, .internalFault, true, .transfer),
            (CURLE_BAD_FUNCTION_ARGUMENT, true, .connectionLost, true, .transfer),
        ] as [(CURLcode, Bool, TransferError.Code, Bool, TransferError.Scope)])
    func classifies(
        _ code: CURLcode, _ isConnected: Bool, _ kind: TransferError.Code, _ isTransient: Bool,
        _ scope: TransferError.Scope
    ) {
        let error = CurlFailure.error(code, text: "", host: "a.example", isConnected: isConnected)
        #expect(error.code == kind && error.isTransient == isTransient && error.scope == scope)
        #expect(error.cause == .curl(Int32(code.rawValue)))
        #expect(!error.message.isEmpty && !error.message.hasSuffix("."))
    }

    @Test func keepsSecretsOutAndTheReasonIn() {
        let refused = CurlFailure.error(
            CURLE_COULDNT_CONNECT, text: "Failed to connect to a.example port 80 after 2 ms: Connection refused",
            host: "a.example", isConnected: false)
        #expect(refused.message == "cannot connect to a.example: connection refused")
        let reported = CurlFailure.error(
            CURLE_COULDNT_CONNECT,
            text: "Failed to connect to a.example port 80 after 2 ms: Couldn't connect to server",
            host: "a.example", isConnected: false, systemError: ECONNREFUSED)
        #expect(reported.message == "cannot connect to a.example: connection refused")
        let coded = CurlFailure.error(
            CURLE_BAD_CONTENT_ENCODING, text: "Unrecognized content encoding type.", host: "a.example",
            isConnected: true)
        #expect(
            coded.message == "the answer's Transfer-Encoding cannot be removed: unrecognized content encoding type")
        let secret = CurlFailure.error(
            CURLE_URL_MALFORMAT, text: "bad URL https://u:p@a.example/?sig=s", host: "a.example", isConnected: false)
        #expect(!secret.message.contains("u:p") && !secret.message.contains("sig=s"))
    }
}
