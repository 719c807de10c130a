import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Requests and the cache", .timeLimit(.minutes(1)))
struct CacheBehaviorTests {
    // MARK: What answers are found by (RFC 9111 §2)

    @Test func queriesPortsAndPathsAreDifferentURLsAndFragmentsAreNot() async throws {
        try await withTestServer { server async throws in
            try await withTestServer { other async throws in
                let client = CachingClient()
                for server in [server, other] { server.count("/r", client.clock, ["Cache-Control": "max-age=60"]) }
                #expect(await client.ask(server.url("/r?q=1")).text == "1")
                #expect(await client.ask(server.url("/r?q=2")).text == "2")
                #expect(await client.ask(server.url("/r")).text == "3")
                #expect(await client.ask(other.url("/r?q=1")).text == "1")
                #expect(other.count(to: "/r") == 1)
                #expect(await client.ask(server.url("/r?q=1#there")).text == "1")
                #expect(await client.ask(server.url("/r?q=2")).text == "2")
                #expect(server.count(to: "/r") == 3)
            }
        }
    }

    @Test func oneURLInSeveralSpellingsIsOne() {
        #expect(CacheKey.of("HTTP://Example.COM:80/a?b#c") == "http://example.com/a?b")
        #expect(CacheKey.of("https://example.com") == CacheKey.of("https://user:secret@example.com:443/"))
        #expect(CacheKey.of("https://example.com/a") != CacheKey.of("http://example.com/a"))
        #expect(CacheKey.of("http://example.com/A") != CacheKey.of("http://example.com/a"))
        #expect(CacheKey.of("http://example.com?q") == "http://example.com/?q")
        #expect(CacheKey.of("ftp://example.com/") == nil)
    }

    @Test func credentialsInTheURLArePartOfWhoAsks() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            let mine = server.url("/r").replacingOccurrences(of: "http://", with: "http://me:pw@")
            #expect(await client.ask(mine).text == "1")
            #expect(await client.ask(server.url("/r")).text == "2")
            #expect(await client.ask(mine).text == "1")
            #expect(await client.ask(mine.replacingOccurrences(of: "me", with: "you")).text == "3")
        }
    }

    // MARK: Methods (§3, §4)

    @Test func aHeadRequestIsAnsweredByWhatAGetStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60", "X-Is": "stored"])
            await client.ask(server.url("/r"))
            let head = await client.ask(server.url("/r"), .head)
            #expect(head.status == 200 && head.text.isEmpty && head.field("X-Is") == "stored")
            #expect(server.count(to: "/r") == 1)
        }
    }

    @Test func answersToHeadAreNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            await client.ask(server.url("/r"), .head)
            #expect(await client.ask(server.url("/r")).text == "2")
        }
    }

    @Test func aDifferingHeadInvalidatesTheStoredAnswer() async throws {
        // §4.3.5
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.fields["ETag"] = "\"2\"" }
            await client.ask(server.url("/r"), .head)
            let again = await client.ask(server.url("/r"))
            #expect(again.text == "3" && server.requests.last?.headers["If-None-Match"] == nil)
        }
    }

    @Test func answersToPostAreNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            #expect(await client.ask(server.url("/r"), .post).text == "1")
            #expect(await client.ask(server.url("/r"), .post).text == "2")
            #expect(await client.ask(server.url("/r")).text == "3")
        }
    }

    // MARK: Invalidating (§4.4)

    @Test(arguments: [HTTPMethod.post, .put, .delete, .patch, HTTPMethod(rawValue: "PURGE")])
    func aChangeOfAResourceInvalidatesItsAnswers(_ method: HTTPMethod) async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60", "Vary": "X-A"])
            await client.ask(server.url("/r"), .get, ["X-A": "1"])
            await client.ask(server.url("/r"), .get, ["X-A": "2"])
            await client.ask(server.url("/r"), method)
            #expect(await client.ask(server.url("/r"), .get, ["X-A": "1"]).text == "4")
            #expect(await client.ask(server.url("/r"), .get, ["X-A": "2"]).text == "5")
        }
    }

    @Test(arguments: [400, 404, 500])
    func aChangeThatFailedLeavesThemValid(_ status: Int) async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            await client.ask(server.url("/r"))
            resource.change { $0.status = status }
            await client.ask(server.url("/r"), .post)
            #expect(await client.ask(server.url("/r")).text == "1")
        }
    }

    @Test(arguments: ["Location", "Content-Location"])
    func urlsNamedByAChangeAreInvalidatedWithinTheOrigin(_ field: String) async throws {
        try await withTestServer { server async throws in
            try await withTestServer { other async throws in
                let client = CachingClient()
                for server in [server, other] {
                    server.count("/item/1", client.clock, ["Cache-Control": "max-age=60"])
                    await client.ask(server.url("/item/1"))
                }
                server.handle("POST", "/items") { _ in Response(status: 201, headers: [field: "/item/1"]) }
                server.handle("POST", "/others") { _ in Response(status: 201, headers: [field: other.url("/item/1")]) }
                await client.ask(server.url("/others"), .post)
                #expect(await client.ask(other.url("/item/1")).text == "1")
                await client.ask(server.url("/items"), .post)
                #expect(await client.ask(server.url("/item/1")).text == "2")
            }
        }
    }

    @Test func anUploadMakesWhatItReplacesInvalid() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            await client.ask(server.url("/r"))
            _ = await client.session.upload(Data("new".utf8), to: server.url("/r"), method: .put).response()
            #expect(await client.ask(server.url("/r")).text == "3")
        }
    }

    @Test func anAnswerThatWasOnItsWayDuringAChangeIsNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            server.script("/r", method: "GET", [.holdHead])
            async let early = client.ask(server.url("/r"))
            try await server.waitForHeld(1)
            await client.ask(server.url("/r"), .post)
            server.release("/r")
            #expect(await early.status == 200)
            let later = await client.ask(server.url("/r"))
            #expect(later.fetches == [.networkLoad])
        }
    }

    // MARK: Several variants (§4.1)

    @Test func severalVariantsOfAURLAreKeptAndEachIsConfirmedByItsOwnValidator() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.handle("GET", "/r") { request in
                let language = request.headers["Accept-Language"] ?? ""
                let tag = "\"\(language)\""
                if request.headers["If-None-Match"] == tag { return Response(status: 304, headers: ["ETag": tag]) }
                return Response(
                    headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language", "ETag": tag],
                    body: .text(language))
            }
            let languages = ["de", "en", "fr"]
            for _ in 0..<2 {
                for language in languages {
                    #expect(await client.ask(server.url("/r"), .get, ["Accept-Language": language]).text == language)
                }
            }
            #expect(server.count(to: "/r") == 3)
            client.clock.advance(61)
            for language in languages {
                #expect(await client.ask(server.url("/r"), .get, ["Accept-Language": language]).text == language)
                #expect(server.requests.last?.headers["If-None-Match"] == "\"\(language)\"")
                #expect(server.requests.last?.status == 304)
            }
        }
    }

    @Test func ofAURLThatVariesEverMoreTheLatestSixteenAreKept() {
        var stored: [StoredResponse] = []
        for number in 0..<40 {
            let request = CacheRequest(key: "http://h/", fields: [HeaderField("X-A", "\(number)")])
            stored = stored.inserting(
                StoredResponse(
                    request, status: 200, fields: [HeaderField("Vary", "X-A")], requestTime: 0, responseTime: 0))
        }
        #expect(stored.count == 16)
        #expect(stored.last?.fits(CacheRequest(key: "http://h/", fields: [HeaderField("X-A", "39")])) == true)
    }

    // MARK: Several requests

    @Test func requestsAtTheSameTimeAllGetTheirAnswer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            let url = server.url("/r")
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<200 { group.addTask { await client.ask(url).status } }
                for await status in group { #expect(status == 200) }
            }
            let count = server.count(to: "/r")
            #expect(await client.ask(url).fetches == [.localCache])
            #expect(server.count(to: "/r") == count)
        }
    }

    @Test func aStoredAnswerNeedsNoSlotOfTheHost() async throws {
        try await withTestServer { server async throws in
            let clock = CacheClock()
            var settings = SessionSettings()
            settings.cache = TransferCache(clock)
            settings.maximumConnectionsPerHost = 1
            let session = Session(settings)
            server.count("/r", clock, ["Cache-Control": "max-age=60"])
            _ = await session.request(server.url("/r")).response()
            server.script("/held", [.holdHead])
            server.serve("/held", .text("late"))
            async let held = session.request(server.url("/held")).response().response?.statusCode
            try await server.waitForHeld(1)
            let text = try await session.request(server.url("/r")).serializingString().value
            #expect(text == "1")
            server.release("/held")
            #expect(await held == 200)
        }
    }

    // MARK: What isn't cached

    @Test func aRedirectedAnswerIsNotStoredUnderTheFirstURL() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.count("/b", client.clock, ["Cache-Control": "max-age=60"])
            #expect(await client.ask(server.url("/a")).text == "1")
            server.script("/a", [], afterwards: .redirect(to: "/c"))
            server.serve("/c", .text("elsewhere"))
            #expect(await client.ask(server.url("/a")).text == "elsewhere")
        }
    }

    @Test func aRedirectThatWasTakenAsTheAnswerIsNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.script(
                "/a", [], afterwards: .status(301, headers: ["Location": "/b", "Cache-Control": "max-age=60"]))
            server.serve("/b", .text("there"))
            let stopped = await client.session.request(server.url("/a")).redirect(using: .doNotFollow).response()
            #expect(stopped.response?.statusCode == 301)
            #expect(await client.ask(server.url("/a")).text == "there")
        }
    }

    @Test func aConfirmationOfAnotherURLIsNone() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/a", client.clock, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            #expect(await client.ask(server.url("/a")).text == "1")
            client.clock.advance(61)
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.handle("GET", "/b") { request in
                request.headers["If-None-Match"] == "\"1\""
                    ? Response(status: 304, headers: ["ETag": "\"1\""])
                    : Response(headers: ["ETag": "\"1\""], body: .text("of b"))
            }
            let answer = await client.ask(server.url("/a"))
            #expect(answer.status == 200 && answer.text == "of b")
        }
    }

    @Test func anAnswerThatWasCutIsNotStored() async throws {
        // §3.3
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60"])
            server.serve("/cut", ServedFile(.random(seed: 1, count: 9000), headers: ["Cache-Control": "max-age=60"]))
            server.script("/cut", [.cut(after: 4000)])
            #expect(await client.ask(server.url("/cut")).error != nil)
            let whole = await client.ask(server.url("/cut"))
            #expect(whole.error == nil && server.count(to: "/cut") == 2)
        }
    }

    @Test func downloadsAndStreamsAreNotCached() async throws {
        try await withTestServer { server async throws in
            let folder = try TemporaryFolder("cache")
            let clock = CacheClock()
            var settings = SessionSettings()
            settings.cache = TransferCache(clock)
            settings.temporaryFolder = folder.path
            let session = Session(settings)
            server.count("/r", clock, ["Cache-Control": "max-age=60"])
            _ = await session.download(server.url("/r")).serializingData().response
            for await event in session.streamRequest(server.url("/r")).streamTask().streamingData() { _ = event }
            let text = try await session.request(server.url("/r")).serializingString().value
            #expect(text == "3")
        }
    }

    @Test func aLongBodyIsNotStored() async throws {
        try await withTestServer { server async throws in
            let clock = CacheClock()
            let client = CachingClient(clock: clock, cache: TransferCache(clock, memory: 100_000))
            for count in [5000, 5001] as [Int64] {
                server.serve(
                    "/\(count)", ServedFile(.random(seed: 1, count: count), headers: ["Cache-Control": "max-age=60"]))
                await client.ask(server.url("/\(count)"))
                await client.ask(server.url("/\(count)"))
            }
            #expect(server.count(to: "/5000") == 1 && server.count(to: "/5001") == 2)
        }
    }

    @Test func aCodedAnswerIsStoredDecoded() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.serve("/z", ServedFile(.text("plain"), headers: ["Cache-Control": "max-age=60"]))
            server.script("/z", [.gzip])
            #expect(await client.ask(server.url("/z")).text == "plain")
            let again = await client.ask(server.url("/z"))
            #expect(again.text == "plain" && again.fetches == [.localCache])
        }
    }
}
