import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Cache policies", .timeLimit(.minutes(1)))
struct CachePolicyTests {
    private static let answer: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    @Test(arguments: [URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData])
    func reloadingAsksTheServerAndStoresWhatItSays(_ policy: URLRequest.CachePolicy) async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.answer)
            await client.ask(server.url("/r"))
            let reloaded = await client.ask(server.url("/r"), policy: policy)
            #expect(reloaded.text == "2")
            let headers = try #require(server.requests.last?.headers)
            #expect(headers["If-None-Match"] == nil)
            let isRemote = policy == .reloadIgnoringLocalAndRemoteCacheData
            #expect(
                (headers["Cache-Control"] == "no-cache") == isRemote && (headers["Pragma"] == "no-cache") == isRemote)
            #expect(await client.ask(server.url("/r")).text == "2")
        }
    }

    @Test func returnCacheDataElseLoadUsesAnAnswerOfAnyAge() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "no-cache"])
            #expect(await client.ask(server.url("/r"), policy: .returnCacheDataElseLoad).text == "1")
            client.clock.advance(1e7)
            let stored = await client.ask(server.url("/r"), policy: .returnCacheDataElseLoad)
            #expect(stored.text == "1" && stored.field("Age") == "10000000")
            #expect(await client.ask(server.url("/r?other"), policy: .returnCacheDataElseLoad).text == "2")
        }
    }

    @Test func returnCacheDataDontLoadNeverAsksTheServer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.answer)
            let nothing = await client.ask(server.url("/r"), policy: .returnCacheDataDontLoad)
            #expect(URLError.code(of: nothing.error) == .resourceUnavailable)
            #expect(server.requests.isEmpty)
            await client.ask(server.url("/r"))
            client.clock.advance(1e7)
            #expect(await client.ask(server.url("/r"), policy: .returnCacheDataDontLoad).text == "1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func returnCacheDataDontLoadFailsWithoutACachedAnswer() async throws {
        try await withTestServer { server async throws in
            let folder = try TemporaryFolder("cache")
            var settings = SessionSettings()
            settings.cache = nil
            settings.cachePolicy = .returnCacheDataDontLoad
            settings.temporaryFolder = folder.path
            let session = Session(settings)
            server.serve("/r", .text("text"))
            let data = await session.request(server.url("/r")).response()
            #expect(URLError.code(of: data.error) == .resourceUnavailable)
            let post = await session.request(server.url("/r"), method: .post).response()
            #expect(URLError.code(of: post.error) == .resourceUnavailable)
            let download = await session.download(server.url("/r")).serializingDownloadedFileURL().response
            #expect(URLError.code(of: download.error) == .resourceUnavailable)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func reloadRevalidatingAsksAboutAFreshAnswer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.answer)
            await client.ask(server.url("/r"))
            #expect(await client.ask(server.url("/r"), policy: .reloadRevalidatingCacheData).text == "1")
            #expect(server.requests.last?.status == 304)
        }
    }

    @Test func thePolicyOfTheConfigurationHoldsWhereTheRequestHasNone() async throws {
        try await withTestServer { server async throws in
            let clock = CacheClock()
            let configuration = URLSessionConfiguration.af.default
            configuration.urlCache = TransferCache(clock)
            configuration.requestCachePolicy = .returnCacheDataElseLoad
            let session = Session(configuration: configuration)
            server.count("/r", clock, ["Cache-Control": "no-cache"])
            func ask(_ policy: URLRequest.CachePolicy) async throws -> String {
                try await session.request(server.url("/r")) { $0.cachePolicy = policy }.serializingString().value
            }
            #expect(try await ask(.useProtocolCachePolicy) == "1")
            #expect(try await ask(.useProtocolCachePolicy) == "1")
            #expect(try await ask(.reloadIgnoringLocalCacheData) == "2")
        }
    }

    @Test func onlyIfCachedWithNothingStoredIs504() async throws {
        // RFC 9111 §5.2.1.7
        try await withTestServer { server async throws in
            let client = CachingClient()
            let answer = await client.ask(server.url("/r"), .get, ["Cache-Control": "only-if-cached"])
            #expect(answer.status == 504 && answer.error == nil && server.requests.isEmpty)
        }
    }

    // MARK: Which cache

    @Test func theCacheOfTheConfigurationIsTheSessions() {
        let configuration = URLSessionConfiguration.af.default
        let cache = TransferCache()
        configuration.urlCache = cache
        #expect(SessionSettings(configuration: configuration).cache === cache)
        configuration.urlCache = nil
        #expect(SessionSettings(configuration: configuration).cache == nil)
    }

    @Test func withoutOneTheSessionHasOneInMemoryAndFoundationsSharedOneIsNotUsed() throws {
        let settings = SessionSettings()
        let cache = try #require(settings.cache as? TransferCache)
        #expect(cache.memoryCapacity == 8 << 20 && cache.diskCapacity == 0)
        #expect(settings.cache !== SessionSettings().cache)
        #expect(settings.cachePolicy == .useProtocolCachePolicy)
    }

    @Test func theDefaultCacheKeepsWhatCanBeUsedAgainAndNothingElse() async throws {
        try await withTestServer { server async throws in
            let session = Session()
            let cache = try #require(session.settings.cache as? TransferCache)
            server.handle("GET", "/plain") { _ in Response(body: .text("x")) }
            server.handle("GET", "/tagged") { _ in Response(headers: ["ETag": "\"1\""], body: .text("x")) }
            _ = await session.request(server.url("/plain")).response()
            #expect(cache.currentMemoryUsage == 0)
            _ = await session.request(server.url("/plain")) { $0.cachePolicy = .returnCacheDataElseLoad }.response()
            let asked = cache.currentMemoryUsage
            #expect(asked > 0)
            _ = await session.request(server.url("/tagged")).response()
            #expect(cache.currentMemoryUsage > asked)
        }
    }
}
