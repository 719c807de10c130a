import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Cached response handlers", .timeLimit(.minutes(1)))
struct CachedResponseHandlerTests {
    private static let answer: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    @Test func aHandlerThatDoesNotCacheStoresNothing() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient(handler: ResponseCacher(behavior: .doNotCache))
            server.count("/r", client.clock, Self.answer)
            await client.ask(server.url("/r"))
            #expect(await client.ask(server.url("/r")).text == "2")
            #expect(client.cache.currentMemoryUsage == 0)
        }
    }

    @Test func theHandlerOfARequestWinsOverTheSessions() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient(handler: .doNotCache)
            server.count("/r", client.clock, Self.answer)
            _ = await client.session.request(server.url("/r")).cacheResponse(using: .cache).response()
            #expect(await client.ask(server.url("/r")).text == "1")
        }
    }

    @Test func aHandlerChangesTheStoredAnswer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.answer)
            let seen = Calls<(String?, Int?, Data)>()
            let cacher = ResponseCacher.modify { task, response in
                let head = response.response as? HTTPURLResponse
                seen.add((task.originalRequest?.url?.path, head?.statusCode, response.data))
                guard let head, let url = head.url,
                    let changed = HTTPURLResponse(
                        url: url, statusCode: 203, httpVersion: nil,
                        headerFields: ["Cache-Control": "max-age=5", "X-Was": "changed"])
                else { return nil }
                return CachedURLResponse(response: changed, data: Data("mine".utf8))
            }
            let first = await client.session.request(server.url("/r")).cacheResponse(using: cacher).response()
            #expect(first.data == Data("1".utf8) && first.response?.statusCode == 200)
            #expect(seen.all.count == 1 && seen.all.first?.0 == "/r" && seen.all.first?.1 == 200)
            let stored = await client.ask(server.url("/r"))
            #expect(stored.text == "mine" && stored.status == 203 && stored.field("X-Was") == "changed")
            client.clock.advance(6)
            #expect(await client.ask(server.url("/r")).text == "2")
        }
    }

    @Test func anAnswerForbiddenByAHandlerIsNotStored() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient(
                handler: .modify { _, response in
                    CachedURLResponse(
                        response: response.response, data: response.data, userInfo: nil, storagePolicy: .notAllowed)
                })
            server.count("/r", client.clock, Self.answer)
            await client.ask(server.url("/r"))
            #expect(await client.ask(server.url("/r")).text == "2")
        }
    }

    @Test func aHandlerIsNotAskedAboutWhatMayNotBeStoredOrWasStored() async throws {
        try await withTestServer { server async throws in
            let asked = Calls<String?>()
            let client = CachingClient(
                handler: .modify { task, response in
                    asked.add(task.originalRequest?.url?.path)
                    return response
                })
            server.count("/r", client.clock, Self.answer)
            server.count("/no", client.clock, ["Cache-Control": "no-store"])
            await client.ask(server.url("/no"))
            await client.ask(server.url("/r"))
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            await client.ask(server.url("/r"))
            #expect(asked.all == ["/r"])
        }
    }

    @Test func aHandlerIsCalledOnTheRootQueueAndTheRequestWaitsForIt() async throws {
        try await withTestServer { server async throws in
            struct Late: CachedResponseHandler {
                let root: DispatchSpecificKey<Bool>
                let calls: Calls<Bool>
                func dataTask(
                    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
                    completion: @escaping @Sendable (CachedURLResponse?) -> Void
                ) {
                    calls.add(DispatchQueue.getSpecific(key: root) == true)
                    testQueue.async {
                        completion(nil)
                        // A second call of the completion has no effect.
                        completion(response)
                    }
                }
            }
            let (key, calls, clock) = (DispatchSpecificKey<Bool>(), Calls<Bool>(), CacheClock())
            let root = DispatchQueue(label: "root")
            root.setSpecific(key: key, value: true)
            let configuration = URLSessionConfiguration.af.default
            configuration.urlCache = TransferCache(clock)
            let session = Session(
                configuration: configuration, rootQueue: root,
                cachedResponseHandler: Late(root: key, calls: calls))
            #expect(session.cachedResponseHandler is Late)
            server.count("/r", clock, Self.answer)
            let text = try await session.request(server.url("/r")).serializingString().value
            #expect(text == "1" && calls.all == [true])
            let again = try await session.request(server.url("/r")).serializingString().value
            #expect(again == "2")
        }
    }

    @Test func aRequestIsCancelledWhileItsHandlerThinks() async throws {
        try await withTestServer { server async throws in
            struct Silent: CachedResponseHandler {
                let asked: Calls<Bool>
                func dataTask(
                    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
                    completion: @escaping @Sendable (CachedURLResponse?) -> Void
                ) { asked.add(true) }
            }
            let asked = Calls<Bool>()
            let client = CachingClient(handler: Silent(asked: asked))
            server.count("/r", client.clock, Self.answer)
            let request = client.session.request(server.url("/r"))
            async let response = request.response()
            _ = await asked.first()
            request.cancel()
            #expect(await response.error?.isExplicitlyCancelledError == true)
            #expect(client.cache.currentMemoryUsage == 0)
        }
    }

    // MARK: What else of a request sees a hit

    @Test func aHitIsValidatedSerializedAndComesInTheUsualOrder() async throws {
        try await withTestServer { server async throws in
            let monitor = EventRecorder()
            let client = CachingClient(monitors: [monitor])
            server.count("/r", client.clock, Self.answer)
            func story() async throws -> [String] {
                let before = monitor.story.count
                let heads = Calls<Int>()
                let progress = Calls<Double>()
                let text = try await client.session.request(server.url("/r"))
                    .onHTTPResponse(on: testQueue) { response in heads.add(response.statusCode) }
                    .downloadProgress(queue: testQueue) { progress.add($0.fractionCompleted) }
                    .validate().serializingString().value
                testQueue.sync {}
                monitor.queue.sync {}
                #expect(text == "1" && heads.all == [200] && progress.all.last == 1)
                return Array(monitor.story[before...])
            }
            let network = try await story()
            let stored = try await story()
            #expect(network.contains("willCacheResponse"))
            #expect(stored == network.filter { $0 != "willCacheResponse" })
            #expect(server.requests.count == 1)
        }
    }

    @Test func aHitThatIsRefusedByItsHeadIsCancelled() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.answer)
            await client.ask(server.url("/r"))
            let response = await client.session.request(server.url("/r"))
                .onHTTPResponse(on: testQueue) { _, decide in decide(.cancel) }.response()
            #expect(response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func aHitThatIsNotTakenIsRetriedAsOthersAre() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, status: 404, Self.answer)
            await client.ask(server.url("/r"))
            resource.change { $0.status = 200 }
            let retrier = ClosureRetrier { request, _ in
                client.cache.removeAllCachedResponses()
                return request.retryCount == 0 ? .retry : .doNotRetry
            }
            let request = client.session.request(server.url("/r"), interceptor: retrier).validate()
            let text = try await request.serializingString().value
            #expect(text == "2" && request.allMetrics.count == 2)
        }
    }

    // MARK: httpbin

    @Test func theCachingEndpointsOfHTTPBinAreCachedAsTheySay() async throws {
        try await withTestServer { server async throws in
            server.serveHTTPBin()
            let client = CachingClient()
            let validated = await client.ask(server.url("/cache"))
            let again = await client.ask(server.url("/cache"), policy: .reloadRevalidatingCacheData)
            #expect(again.text == validated.text && again.status == 200 && server.requests.last?.status == 304)
            await client.ask(server.url("/cache/60"))
            #expect(await client.ask(server.url("/cache/60")).fetches == [.localCache])
            await client.ask(server.url("/etag/abc"))
            #expect(await client.ask(server.url("/etag/abc")).fetches == [.networkLoad, .localCache])
            let fields = "/response-headers?Cache-Control=max-age%3D60&X-A=1"
            await client.ask(server.url(fields))
            let stored = await client.ask(server.url(fields))
            #expect(stored.fetches == [.localCache] && stored.field("X-A") == "1")
            let none = "/response-headers?Cache-Control=no-store"
            await client.ask(server.url(none))
            #expect(await client.ask(server.url(none)).fetches == [.networkLoad])
            client.clock.advance(62)
            #expect(await client.ask(server.url("/cache/60")).fetches == [.networkLoad])
        }
    }
}
