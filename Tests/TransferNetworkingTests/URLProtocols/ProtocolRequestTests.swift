import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Requests that a URLProtocol carries", .timeLimit(.minutes(1)))
struct ProtocolRequestTests {
    private func unique(_ name: String = #function) -> String { name.filter(\.isLetter) + UUID().uuidString }

    // MARK: Answers

    @Test func theAnswerIsTheProtocolsAndNothingGoesToTheNetwork() async throws {
        let url = MockProtocol.answer(unique()) { mock, _ in
            mock.respond(201, ["Content-Type": "application/json", "ETag": "\"1\""], body: #"{"text": "hi"}"#)
        }
        let request = makeMockedSession().request(url)
        let response = await request.validate().serializingDecodable(Greeting.self).response
        #expect(response.value == Greeting(text: "hi"))
        #expect(response.response?.statusCode == 201)
        #expect(response.response?.value(forHTTPHeaderField: "ETag") == "\"1\"")
        #expect(response.data == Data(#"{"text": "hi"}"#.utf8))
        #expect(response.metrics?.transactionMetrics.count == 1)
        #expect(request.tasks.count == 1)
    }

    @Test func theProtocolSeesTheRequestAsItIsSent() async throws {
        let seen = Calls<URLRequest>()
        let url = MockProtocol.answer(unique()) { mock, _ in
            seen.add(mock.request)
            mock.respond()
        }
        let session = makeMockedSession { $0.interceptor = HeaderAdapter("X-Adapted", "yes") }
        _ = await session.request(url, method: .post, parameters: ["a": "b"], headers: ["X-Own": "own"])
            .serializingData(emptyResponseCodes: [200]).response
        let request = try #require(seen.all.first)
        #expect(request.httpMethod == "POST")
        #expect(request.httpBody == Data("a=b".utf8))
        for (name, value) in [
            ("X-Own", "own"), ("X-Adapted", "yes"), ("X-Session", "session"), ("X-Canonical", "yes"),
        ] {
            #expect(request.value(forHTTPHeaderField: name) == value)
        }
        #expect(request.value(forHTTPHeaderField: "User-Agent") != nil)
    }

    @Test func anUnclaimedRequestGoesToTheNetwork() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("network"))
            let text = try await makeMockedSession().request(server.url("/f")).serializingString().value
            #expect(text == "network")
        }
    }

    @Test func anySchemeMayBeCarriedAndOthersStayUnsupported() async throws {
        let name = unique()
        _ = MockProtocol.answer(name) { mock, _ in mock.respond(body: "own scheme") }
        let session = makeMockedSession()
        #expect(try await session.request("mock://anything/\(name)").serializingString().value == "own scheme")
        let error = await session.request("other://anything/").serializingString().response.error
        #expect(URLError.code(of: error) == .unsupportedURL)
    }

    @Test func anAnswerThatIsNoneOfHTTPHasABodyAndNoResponse() async throws {
        let url = MockProtocol.answer(unique()) { mock, client in
            let response = URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: "text/plain", expectedContentLength: 1, textEncodingName: nil)
            client.urlProtocol(mock, didReceive: response, cacheStoragePolicy: .notAllowed)
            client.urlProtocol(mock, didLoad: Data("x".utf8))
            client.urlProtocolDidFinishLoading(mock)
        }
        let response = await makeMockedSession().request(url).validate().serializingString().response
        #expect(response.value == "x")
        #expect(response.response == nil)
    }

    @Test func theHeadIsLookedAtBeforeTheBodyIsTaken() async throws {
        let url = MockProtocol.answer(unique()) { mock, _ in mock.respond(404, body: "body") }
        let request = makeMockedSession().request(url).onHTTPResponse { _, decided in decided(.cancel) }
        let response = await request.serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.response?.statusCode == 404)
    }

    @Test func progressRunsToTheEnd() async throws {
        let url = MockProtocol.answer(unique()) { mock, _ in mock.respond(200, ["Content-Length": "4"], body: "body") }
        let last = Mutex(0.0)
        _ = try await makeMockedSession().request(url)
            .downloadProgress(queue: testQueue) { progress in last.withLock { $0 = progress.fractionCompleted } }
            .serializingData().value
        testQueue.sync {}
        #expect(last.withLock { $0 } == 1)
    }

    @Test func moreThanAHostHasPlacesForAreCarriedAtOnce() async throws {
        let waiting = Mutex<[HeldMock]>([])
        let url = MockProtocol.answer(unique()) { mock, _ in
            let all = waiting.withLock { waiting in
                waiting.append(HeldMock(mock: mock))
                return waiting.count == 40 ? waiting : []
            }
            for held in all { held.mock.respond(body: "x") }
        }
        let session = makeMockedSession()
        let tasks = (0..<40).map { _ in session.request(url).serializingString() }
        for task in tasks { #expect(await task.response.value == "x") }
    }

    // MARK: Failures

    @Test func aFailureIsTheProtocolsOwn() async throws {
        let url = MockProtocol.answer(unique()) {
            $1.urlProtocol($0, didFailWithError: URLError(.networkConnectionLost))
        }
        let other = MockProtocol.answer(unique()) { $1.urlProtocol($0, didFailWithError: TestFailure()) }
        let plain = MockProtocol.answer(unique()) {
            $1.urlProtocol($0, didFailWithError: NSError(domain: NSURLErrorDomain, code: -1009))
        }
        let session = makeMockedSession()
        let offline = await session.request(plain).serializingData().response.error
        #expect(URLError.code(of: offline) == .notConnectedToInternet)
        let lost = await session.request(url).serializingData().response.error
        #expect(lost?.isSessionTaskError == true)
        #expect(URLError.code(of: lost) == .networkConnectionLost)
        let own = await session.request(other).serializingData().response.error
        #expect(own?.underlyingError as? TestFailure == TestFailure())
    }

    @Test func aRetryAsksTheProtocolAgain() async throws {
        let count = Mutex(0)
        let url = MockProtocol.answer(unique()) { mock, client in
            if count.withLock({ count in
                count += 1
                return count < 3
            }) {
                client.urlProtocol(mock, didFailWithError: URLError(.timedOut))
            } else {
                mock.respond(body: "third")
            }
        }
        let policy = RetryPolicy(exponentialBackoffScale: 0.001)
        let request = makeMockedSession().request(url, interceptor: policy)
        #expect(try await request.serializingString().value == "third")
        #expect(request.retryCount == 2)
    }

    @Test func aProtocolThatSaysNothingTimesOut() async throws {
        let name = unique()
        var request = URLRequest(url: MockProtocol.answer(name) { _, _ in })
        request.timeoutInterval = 0.1
        let error = await makeMockedSession().request(request).serializingData().response.error
        #expect(URLError.code(of: error) == .timedOut)
        _ = await MockProtocol.stops(of: name).first()
    }

    @Test func aCancellationStopsTheProtocol() async throws {
        let name = unique()
        let started = Calls<Void>()
        let url = MockProtocol.answer(name) { _, _ in started.add(()) }
        let request = makeMockedSession().request(url)
        let task = request.serializingData()
        async let response = task.response
        _ = await started.first()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        _ = await MockProtocol.stops(of: name).first()
        #expect(MockProtocol.stops(of: name).all.count == 1)
    }

    // MARK: Redirects, challenges, caching

    @Test func aRedirectIsFollowedToTheNextProtocolOrToTheNetwork() async throws {
        try await withTestServer { server async throws in
            server.serve("/end", .text("network"))
            let end = MockProtocol.answer(unique()) { mock, _ in mock.respond(body: "mock") }
            let network = server.url("/end")
            let session = makeMockedSession()
            for (target, text) in [(end.absoluteString, "mock"), (network, "network")] {
                let url = MockProtocol.answer(unique("r" + text)) { mock, client in
                    guard let next = URL(string: target) else { return }
                    client.urlProtocol(
                        mock, wasRedirectedTo: URLRequest(url: next),
                        redirectResponse: mock.head(302, ["Location": target]))
                }
                let response = await session.request(url).serializingString().response
                #expect(response.value == text)
                #expect(response.response?.url?.absoluteString == target)
            }
            let stays = MockProtocol.answer(unique("stays")) { mock, client in
                client.urlProtocol(mock, wasRedirectedTo: URLRequest(url: end), redirectResponse: mock.head(302))
            }
            let response = await session.request(stays).redirect(using: .doNotFollow).serializingData().response
            #expect(response.response?.statusCode == 302)
        }
    }

    @Test func aChallengeGetsTheCredentialOfTheRequest() async throws {
        let url = MockProtocol.answer(unique()) { mock, client in
            let space = URLProtectionSpace(
                host: "mock.example", port: 443, protocol: "https", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let held = HeldMock(mock: mock)
            let sender = ChallengeSender { credential in held.mock.respond(body: credential?.user ?? "nobody") }
            client.urlProtocol(
                mock,
                didReceive: URLAuthenticationChallenge(
                    protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                    error: nil, sender: sender))
        }
        let session = makeMockedSession()
        let known = session.request(url).authenticate(username: "user", password: "secret")
        #expect(try await known.serializingString().value == "user")
        #expect(try await session.request(url).serializingString().value == "nobody")
    }

    @Test(arguments: [(URLCache.StoragePolicy.allowed, 1), (.notAllowed, 0)])
    func theProtocolDecidesWhatMayBeStored(_ policy: URLCache.StoragePolicy, _ expected: Int) async throws {
        let url = MockProtocol.answer(unique("policy\(expected)")) { mock, _ in
            mock.respond(200, ["Cache-Control": "max-age=60"], body: "x", policy: policy)
        }
        let asked = Mutex(0)
        let cacher = ResponseCacher(
            behavior: .modify { _, response in
                asked.withLock { $0 += 1 }
                return response
            })
        _ = await makeMockedSession().request(url).cacheResponse(using: cacher).serializingData().response
        #expect(asked.withLock { $0 } == expected)
    }
}

private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {  // Constant.
    let answered: @Sendable (URLCredential?) -> Void
    init(_ answered: @escaping @Sendable (URLCredential?) -> Void) { self.answered = answered }
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) { answered(credential) }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answered(nil) }
    func cancel(_ challenge: URLAuthenticationChallenge) { answered(nil) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answered(nil) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answered(nil) }
}
