import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Requests whose program owes something: a decision about the head of a response, or a reference to the request.
@Suite("Requests that their program leaves alone", .timeLimit(.minutes(1)))
struct UndecidedRequestTests {
    /// A decision that never comes ends by the time-out of the request, whether the body is still under way or not.
    @Test(arguments: [10, 5_000_000])
    func aDecisionThatNeverComesEndsByTheTimeOut(length: Int) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: Int64(length)))
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.timeoutInterval = 0.3
            let kept = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let response = await makeSession().request(request)
                .onHTTPResponse(on: testQueue) { _, decide in kept.add(decide) }
                .serializingData().response
            #expect((response.error?.underlyingError as? URLError)?.code == .timedOut, "\(response)")
            // A late decision changes nothing.
            kept.all.first?(.allow)
        }
    }

    @Test func aDecisionInTimeIsNoTimeOut() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.timeoutInterval = 30
            let text = try await makeSession().request(request)
                .onHTTPResponse(on: testQueue) { _, decide in decide(.allow) }.serializingString().value
            #expect(text == "body")
        }
    }

    /// The session's time-out bounds the decision too, where the request has none of its own.
    @Test func aDecisionThatNeverComesEndsByTheTimeOutOfTheSession() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            var settings = SessionSettings()
            settings.requestTimeout = 0.3
            let kept = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let response = await Session(settings).request(server.url("/x"))
                .onHTTPResponse(on: testQueue) { _, decide in kept.add(decide) }
                .serializingData().response
            #expect((response.error?.underlyingError as? URLError)?.code == .timedOut, "\(response)")
        }
    }

    /// A handler that keeps the completions of redirects and of stored responses, and calls none.
    private final class Silent: RedirectHandler, CachedResponseHandler {
        let redirects = Calls<@Sendable (URLRequest?) -> Void>()
        let responses = Calls<@Sendable (CachedURLResponse?) -> Void>()

        func task(
            _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
            completion: @escaping @Sendable (URLRequest?) -> Void
        ) { redirects.add(completion) }

        func dataTask(
            _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
            completion: @escaping @Sendable (CachedURLResponse?) -> Void
        ) { responses.add(completion) }
    }

    @Test func aRedirectThatIsNeverDecidedEndsByTheTimeOut() async throws {
        try await withTestServer { server async throws in
            server.serve("/b", .text("b"))
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 302))
            var request = URLRequest(url: try #require(URL(string: server.url("/a"))))
            request.timeoutInterval = 0.3
            let silent = Silent()
            let response = await makeSession().request(request).redirect(using: silent).serializingData().response
            #expect((response.error?.underlyingError as? URLError)?.code == .timedOut, "\(response)")
            // A late decision changes nothing.
            silent.redirects.all.first?(nil)
            #expect(silent.redirects.all.count == 1 && server.requests.count == 1)
        }
    }

    /// Two decisions are pending for the same time. The time of the second, which begins later, proves that the time of
    /// the first is over.
    @Test func aSuspensionDoesNotCountInTheTimeOfADecisionAboutAResponse() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.timeoutInterval = 1
            let session = makeSession()
            let kept = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let suspended = session.request(request).onHTTPResponse(on: testQueue) { _, decide in kept.add(decide) }
            let text = suspended.serializingString()
            let decide = try #require(await kept.first())
            suspended.suspend()
            let other = await session.request(request)
                .onHTTPResponse(on: testQueue) { _, decide in kept.add(decide) }.serializingData().response
            #expect((other.error?.underlyingError as? URLError)?.code == .timedOut, "\(other)")
            suspended.resume()
            decide(.allow)
            #expect(try await text.value == "body")
        }
    }

    @Test func aSuspensionDoesNotCountInTheTimeOfADecisionAboutARedirect() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 302))
            var request = URLRequest(url: try #require(URL(string: server.url("/a"))))
            request.timeoutInterval = 1
            let (session, silent) = (makeSession(), Silent())
            let suspended = session.request(request).redirect(using: silent)
            let data = suspended.serializingData()
            let decide = try #require(await silent.redirects.first())
            suspended.suspend()
            let other = await session.request(request).redirect(using: silent).serializingData().response
            #expect((other.error?.underlyingError as? URLError)?.code == .timedOut, "\(other)")
            suspended.resume()
            decide(nil)
            #expect(await data.response.response?.statusCode == 302)
        }
    }

    /// Neither the time of the decision about the response nor a second call of its completion counts for the handler
    /// of the cache.
    @Test func aDecisionAboutTheResponseIsNoneAboutItsStorage() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            var request = URLRequest(url: try #require(URL(string: server.url("/r"))))
            request.timeoutInterval = 0.3
            let silent = Silent()
            let kept = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let asked = client.session.request(request).cacheResponse(using: silent)
                .onHTTPResponse(on: testQueue) { _, decide in
                    kept.add(decide)
                    decide(.allow)
                }
            async let response = asked.response()
            _ = await silent.responses.first()
            kept.all.first?(.cancel)
            #expect(await response.error == nil)
            #expect(await response.data == Data("1".utf8))
        }
    }

    @Test func aResponseWhoseStorageIsNeverDecidedIsDeliveredAndNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            var request = URLRequest(url: try #require(URL(string: server.url("/r"))))
            request.timeoutInterval = 0.3
            let silent = Silent()
            let response = await client.session.request(request).cacheResponse(using: silent).response()
            #expect(response.error == nil && response.data == Data("1".utf8))
            #expect(silent.responses.all.count == 1)
            #expect(await client.ask(server.url("/r")).text == "2")
        }
    }

    /// The stream keeps the request until its loop has begun, as nobody else does.
    @Test func aStreamOfARequestThatNobodyKeepsHasValuesAndEnds() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 1000))
            var count = 0
            for await _ in makeSession().download(server.url("/x")).downloadProgress() { count += 1 }
            #expect(count > 0)
        }
    }

    /// A request without an owner can no longer be started, so its stream ends.
    @Test func aStreamOfARequestThatIsNeverStartedEndsWithIt() async throws {
        let session = makeSession(starts: false)
        var count = 0
        for await _ in session.request("http://127.0.0.1:1/").downloadProgress() { count += 1 }
        #expect(count == 0)
    }
}
