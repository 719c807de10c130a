import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferEngine
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Cookies over the network. The server is also the proxy of every host, so that host names are arbitrary.
@Suite("Cookies", .timeLimit(.minutes(2)))
struct CookieTests {
    private func session(
        _ server: TestServer? = nil, _ cookies: CookieSettings = CookieSettings(),
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> Session {
        var settings = SessionSettings()
        settings.loops = 1
        settings.cookies = cookies
        if let server { settings.proxy = "http://127.0.0.1:\(server.port)" }
        change(&settings)
        return Session(settings)
    }

    private func handle(_ server: TestServer, _ path: String, setting fields: [String], status: Int = 200) {
        server.handle(nil, path) { _ in
            var response = Response(status: status, body: .text("."))
            for field in fields { response.headers.add("Set-Cookie", field) }
            return response
        }
    }

    private func get(_ session: Session, _ url: String, headers: HTTPHeaders? = nil) async throws {
        _ = try await session.request(url, headers: headers).serializingData(emptyResponseCodes: [200]).value
    }

    private func cookie(_ server: TestServer) -> String? { server.requests.last?.headers["Cookie"] }

    @Test func cookiesOfAnAnswerAreSentWithTheNextRequest() async throws {
        try await withTestServer { server async throws in
            handle(server, "/set", setting: ["a=1; Path=/", "b=2; Path=/p", "c=\"x y\"; Path=/; HttpOnly"])
            handle(server, "/p/*", setting: [])
            handle(server, "/x", setting: [])
            let session = session()
            try await get(session, server.url("/set"))
            #expect(cookie(server) == nil)
            try await get(session, server.url("/p/x"))
            #expect(cookie(server) == "b=2; a=1; c=\"x y\"")
            try await get(session, server.url("/x"))
            #expect(cookie(server) == "a=1; c=\"x y\"")
            #expect(server.requests.last?.headers.all("Cookie").count == 1)
        }
    }

    @Test func aCookieThatEndsIsNotSentOnAHandleThatSentItBefore() async throws {
        try await withTestServer { server async throws in
            handle(server, "/set", setting: ["a=1; Path=/"])
            handle(server, "/unset", setting: ["a=; Path=/; Max-Age=0"])
            handle(server, "/x", setting: [])
            let session = session()
            for (path, sent) in [
                ("/x", nil), ("/set", nil), ("/x", "a=1"), ("/x", "a=1"), ("/unset", "a=1"), ("/x", nil), ("/x", nil),
            ] as [(String, String?)] {
                try await get(session, server.url(path))
                #expect(cookie(server) == sent)
            }
            // All requests used one connection, and therefore the options of one handle.
            #expect(Set(server.requests.map(\.connection)).count == 1)
        }
    }

    @Test func sessionsShareNoCookiesUnlessTheyShareAStore() async throws {
        try await withTestServer { server async throws in
            handle(server, "/set", setting: ["a=1"])
            let store = CookieStore()
            try await get(session(nil, CookieSettings(place: .store(store))), server.url("/set"))
            try await get(session(), server.url("/set"))
            #expect(cookie(server) == nil)
            try await get(session(nil, CookieSettings(place: .store(store))), server.url("/set"))
            #expect(cookie(server) == "a=1")
            #expect(store.cookies.map(\.name) == ["a"])
        }
    }

    @Test func domainsAreKeptApartOnTheWire() async throws {
        try await withTestServer { server async throws in
            for host in ["shop.co.uk", "www.shop.co.uk", "bank.co.uk"] {
                handle(server, "http://\(host)/x", setting: [])
            }
            handle(
                server, "http://www.shop.co.uk/set",
                setting: [
                    "own=1", "all=2; Domain=shop.co.uk", "bad=3; Domain=co.uk", "worse=4; Domain=bank.co.uk",
                    "secure=5; Secure",
                ])
            let session = session(server)
            try await get(session, "http://www.shop.co.uk/set")
            try await get(session, "http://www.shop.co.uk/x")
            #expect(cookie(server) == "own=1; all=2")
            try await get(session, "http://shop.co.uk/x")
            #expect(cookie(server) == "all=2")
            try await get(session, "http://bank.co.uk/x")
            #expect(cookie(server) == nil)
        }
    }

    // MARK: Hops

    @Test func everyHopOfARedirectSetsAndGetsItsOwn() async throws {
        try await withTestServer { server async throws in
            let hop = { (host: String, path: String, next: String, cookie: String) in
                server.handle("GET", "http://\(host)\(path)") { _ in
                    Response(status: 302, headers: ["Location": next, "Set-Cookie": "\(cookie); Path=/"])
                }
            }
            hop("a.example.com", "/1", "/2", "first=1")
            hop("a.example.com", "/2", "http://b.example.org/3", "second=2")
            hop("b.example.org", "/3", "http://a.example.com/4", "other=3")
            handle(server, "http://a.example.com/4", setting: [])
            try await get(session(server), "http://a.example.com/1")
            let sent = server.requests.map { $0.headers["Cookie"] }
            #expect(sent == [nil, "first=1", nil, "first=1; second=2"])
        }
    }

    @Test func aHandlerThatAddsACookieOfItsOwnSendsThatAlone() async throws {
        try await withTestServer { server async throws in
            handle(server, "/a", setting: ["a=1"])
            server.handle("GET", "/r") { _ in
                Response(status: 302, headers: ["Location": "/a", "Set-Cookie": "r=1"])
            }
            let redirector = Redirector(
                behavior: .modify { _, request, _ in
                    var request = request
                    request.headers.update(name: "Cookie", value: "mine=1")
                    return request
                })
            let session = session()
            _ = try await session.request(server.url("/r")).redirect(using: redirector).serializingData().value
            #expect(cookie(server) == "mine=1")
            _ = try await session.request(server.url("/r")).redirect(using: .follow).serializingData().value
            #expect(cookie(server) == "r=1; a=1" || cookie(server) == "a=1; r=1")
        }
    }

    @Test func aChallengeSetsCookiesForTheRequestThatAnswersIt() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/private") { request in
                guard request.headers["Authorization"] != nil else {
                    return Response(
                        status: 401,
                        headers: ["WWW-Authenticate": "Basic realm=\"r\"", "Set-Cookie": "asked=1; Path=/"])
                }
                return Response(body: .text(request.headers["Cookie"] ?? "none"))
            }
            let url = server.url("/private").replacingOccurrences(of: "http://", with: "http://u:p@")
            let text = try await session().request(url).serializingString().value
            #expect(text == "asked=1")
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "asked=1"])
        }
    }

    @Test(arguments: [200, 204, 302, 304, 401, 404, 500])
    func everyStatusSetsCookies(_ status: Int) async throws {
        try await withTestServer { server async throws in
            handle(server, "/set", setting: ["a=1; Path=/"], status: status)
            let session = session()
            _ = await session.request(server.url("/set")).response()
            _ = await session.request(server.url("/set")).response()
            #expect(cookie(server) == "a=1")
        }
    }

    @Test func uploadsDownloadsAndStreamsHaveCookies() async throws {
        try await withTestServer { server async throws in
            handle(server, "/x", setting: ["a=1; Path=/"])
            let folder = try TemporaryFolder("cookies")
            let session = session { $0.temporaryFolder = folder.path }
            try await get(session, server.url("/x"))
            _ = await session.upload(Data("x".utf8), to: server.url("/x")).serializingData().response
            #expect(cookie(server) == "a=1" && server.requests.last?.method == "POST")
            _ = try await session.download(server.url("/x")).serializingDownloadedFileURL().value
            #expect(cookie(server) == "a=1")
            for await _ in session.streamRequest(server.url("/x")).streamTask().streamingData() {}
            #expect(server.requests.count == 4 && cookie(server) == "a=1")
        }
    }

    // MARK: Policies

    @Test func aCookieFieldOfTheProgramIsSentAsItIs() async throws {
        try await withTestServer { server async throws in
            handle(server, "/x", setting: ["a=1; Path=/"])
            let session = session()
            try await get(session, server.url("/x"))
            try await get(session, server.url("/x"), headers: ["Cookie": "mine=1; a=2"])
            #expect(server.requests.last?.headers.all("Cookie") == ["mine=1; a=2"])
            var settings = SessionSettings()
            settings.headers.add(name: "cookie", value: "always=1")
            let always = Session(settings)
            try await get(always, server.url("/x"))
            try await get(always, server.url("/x"))
            #expect(server.requests.last?.headers.all("Cookie") == ["always=1"])
        }
    }

    @Test func policiesDecideWhichCookiesAreAcceptedAndSent() async throws {
        try await withTestServer { server async throws in
            handle(server, "/x", setting: ["a=1; Path=/"])
            let store = CookieStore()
            let place = CookieSettings.Place.store(store)
            let never = session(nil, CookieSettings(place: place, acceptPolicy: .never))
            try await get(never, server.url("/x"))
            #expect(store.isEmpty)
            let silent = session(nil, CookieSettings(place: place, sendsCookies: false))
            try await get(silent, server.url("/x"))
            try await get(silent, server.url("/x"))
            #expect(cookie(server) == nil && !store.isEmpty)
            // Stored cookies are sent, although no cookie is accepted.
            try await get(never, server.url("/x"))
            #expect(cookie(server) == "a=1")
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.httpShouldHandleCookies = false
            store.removeCookies()
            let usual = session(nil, CookieSettings(place: place))
            _ = try await usual.request(request).serializingData().value
            #expect(store.isEmpty)
            try await get(usual, server.url("/x"))
            _ = try await usual.request(request).serializingData().value
            #expect(cookie(server) == nil && !store.isEmpty)
            let none = session(nil, CookieSettings(place: .nowhere))
            try await get(none, server.url("/x"))
            try await get(none, server.url("/x"))
            #expect(cookie(server) == nil)
        }
    }

    @Test(
        arguments: [
            ("http://www.shop.co.uk/", HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain, true),
            ("http://ads.co.uk/", .onlyFromMainDocumentDomain, false),
            ("http://static.shop.co.uk/", .onlyFromMainDocumentDomain, true), ("http://ads.co.uk/", .always, true),
            (nil, .onlyFromMainDocumentDomain, true), ("http://shop.co.uk/", .never, false),
        ] as [(String?, HTTPCookie.AcceptPolicy, Bool)])
    func theMainDocumentDecides(_ main: String?, _ policy: HTTPCookie.AcceptPolicy, _ isTaken: Bool) async throws {
        try await withTestServer { server async throws in
            handle(server, "http://shop.co.uk/x", setting: ["a=1; Path=/"])
            let store = CookieStore()
            let session = session(server, CookieSettings(place: .store(store), acceptPolicy: policy))
            var request = URLRequest(url: try #require(URL(string: "http://shop.co.uk/x")))
            request.mainDocumentURL = main.flatMap { URL(string: $0) }
            _ = try await session.request(request).serializingData().value
            #expect(store.isEmpty != isTaken)
        }
    }

    @Test func aConfigurationsOwnStorageIsUsed() async throws {
        try await withTestServer { server async throws in
            handle(server, "/x", setting: ["a=1; Path=/"])
            let configuration = URLSessionConfiguration.af.ephemeral
            let storage = try #require(configuration.httpCookieStorage)
            let own = try #require(
                HTTPCookie(properties: [.name: "own", .value: "0", .domain: "127.0.0.1", .path: "/"]))
            storage.setCookie(own)
            let session = Session(configuration: configuration)
            try await get(session, server.url("/x"))
            #expect(cookie(server) == "own=0")
            #expect(Set((storage.cookies ?? []).map(\.name)) == ["own", "a"])
            try await get(session, server.url("/x"))
            #expect(cookie(server) == "own=0; a=1")
            let policies = URLSessionConfiguration.af.ephemeral
            policies.httpShouldSetCookies = false
            let silent = Session(configuration: policies)
            try await get(silent, server.url("/x"))
            try await get(silent, server.url("/x"))
            #expect(cookie(server) == nil && policies.httpCookieStorage?.cookies?.count == 1)
        }
    }

    @Test func aProxysChallengeSetsNoCookies() async throws {
        try await withTestServer { server async throws in
            handle(server, "http://a.example/x", setting: ["a=1"], status: 407)
            let store = CookieStore()
            _ = await session(server, CookieSettings(place: .store(store))).request("http://a.example/x").response()
            #expect(server.requests.count == 1 && store.isEmpty)
        }
    }

    // MARK: Elsewhere

    @Test func secureCookiesGoOverTLSAndHTTP2Alone() async throws {
        let folder = try TemporaryFolder("cookies")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: folder)
        options.server = """
            location /set { add_header Set-Cookie "__Host-a=1; Secure; Path=/" always; add_header Set-Cookie "b=2" always;
                return 200 "set"; }
            location /get { return 200 "[$http_cookie]"; }
            """
        let nginx = try await NginxServer.start(options: options)
        let store = CookieStore()
        let session = session(nil, CookieSettings(place: .store(store))) {
            $0.authorities = options.certificate?.path
        }
        let first = await session.request(nginx.url("/set")).serializingString().response
        #expect(first.value == "set")
        let second = await session.request(nginx.url("/get")).serializingString().response
        #expect(second.value == "[__Host-a=1; b=2]")
        #expect(second.metrics?.transactionMetrics.first?.networkProtocolName == "h2")
        let host = try #require(URL(string: nginx.url("/"))?.host)
        #expect(store.cookies(for: try #require(URL(string: "http://\(host)/"))).map(\.name) == ["b"])
        withExtendedLifetime(nginx) {}
    }

    @Test func aCommandHasTheStoresCookiesWhereSecretsAreAskedFor() async throws {
        try await withTestServer { server async throws in
            handle(server, "/x", setting: ["a=1; Path=/", "b=$2; Path=/"])
            let session = session()
            try await get(session, server.url("/x"))
            let request = session.request(server.url("/x"))
            _ = await request.response()
            let command = request.cURLDescription(includingSecrets: true)
            #expect(command.contains(" \\\n\t-b 'a=1; b=$2' \\\n\t"))
            let plain = request.cURLDescription()
            #expect(!plain.contains("-b ") && !plain.contains("a=1"))
            let own = session.request(server.url("/x"), headers: ["Cookie": "own=1"])
            _ = await own.response()
            let ownCommand = own.cURLDescription(includingSecrets: true)
            #expect(ownCommand.contains("-H \"Cookie: own=1\"") && !ownCommand.contains("-b "))
        }
    }

    @Test func withoutCookiesTheStoreIsNotCalled() async throws {
        final class CountingJar: CookieJar {
            let calls = Mutex<[String]>([])
            let isFull = Mutex(false)
            var isEmpty: Bool { !isFull.withLock { $0 } }
            func field(for url: String) -> String? {
                calls.withLock { $0.append("field") }
                return "a=1\r\nX-Injected: 1"
            }
            func received(_ fields: [String], from url: String) { calls.withLock { $0.append(fields.joined()) } }
        }
        try await withTestServer { server async throws in
            handle(server, "/x", setting: [])
            handle(server, "/set", setting: ["a=1", "b=2"])
            let jar = CountingJar()
            let engine = try ExchangeEngine(loops: 1)
            let send = { (path: String) in
                var request = ExchangeRequest(url: server.url(path))
                request.cookies = jar
                await withCheckedContinuation { continuation in
                    engine.start(request, makeSink: { AnswerSink(limit: 10) }) { event in
                        if case .ended = event { continuation.resume() }
                    }
                }
            }
            await send("/x")
            #expect(jar.calls.withLock { $0 } == [])
            await send("/set")
            #expect(jar.calls.withLock { $0 } == ["a=1b=2"])
            jar.isFull.withLock { $0 = true }
            await send("/x")
            #expect(jar.calls.withLock { $0 } == ["a=1b=2", "field"])
            // A line break would end the field and begin another.
            #expect(cookie(server) == nil && server.requests.last?.headers["X-Injected"] == nil)
            engine.shutDown()
        }
    }
}
