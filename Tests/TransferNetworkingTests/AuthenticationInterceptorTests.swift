import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Authentication over the wire", .timeLimit(.minutes(1)))
struct AuthenticationInterceptorTests {
    private func withService(
        valid: String?, _ body: (TestServer, TokenService) async throws -> Void
    ) async throws {
        try await withTestServer { server async throws in
            let service = TokenService(valid: valid)
            service.install(on: server)
            // A test that fails early must not leave a handler waiting, since the server waits for it.
            defer { service.slowGate.signal() }
            try await body(server, service)
        }
    }

    private func count(_ path: String, _ server: TestServer, _ token: String? = nil) -> Int {
        server.requests.filter { request in
            request.path == path && (token.map { request.headers["Authorization"] == "Bearer \($0)" } ?? true)
        }.count
    }

    @Test func theCredentialIsPutOnRequests() async throws {
        try await withService(valid: "a") { server, _ in
            let authenticator = TokenAuthenticator { $2(.success($0)) }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("a"))
            let text = try await makeSession().request(server.url("/data"), interceptor: interceptor).validate()
                .serializingString().value
            #expect(text == "data")
            #expect(authenticator.refreshed.all.isEmpty)
            #expect(interceptor.credential == Token("a"))
        }
    }

    @Test func withoutACredentialNothingIsSent() async throws {
        try await withService(valid: "a") { server, _ in
            let authenticator = TokenAuthenticator { $2(.success($0)) }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator)
            let response = await makeSession().request(server.url("/data"), interceptor: interceptor).response()
            #expect(response.error?.interceptorError as? AuthenticationError == .missingCredential)
            #expect(server.requests.isEmpty)
            #expect(authenticator.refreshed.all.isEmpty)
        }
    }

    @Test func aCredentialThatIsSetLaterCounts() async throws {
        try await withService(valid: "a") { server, _ in
            let interceptor = TokenInterceptor(authenticator: TokenAuthenticator { $2(.success($0)) })
            interceptor.credential = Token("a")
            let session = makeSession(interceptor: interceptor)
            let first = await session.request(server.url("/data")).validate().response()
            #expect(first.error == nil)
            interceptor.credential = nil
            let second = await session.request(server.url("/data")).validate().response()
            #expect(second.error?.interceptorError as? AuthenticationError == .missingCredential)
        }
    }

    @Test func oneRefreshServesFortyRequestsWithAnExpiredToken() async throws {
        try await withService(valid: nil) { server, _ in
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator, credential: Token("old", requiresRefresh: true))
            let session = makeSession()
            let url = server.url("/data")
            let responses = await gather(40) { _ in session.request(url, interceptor: interceptor).validate() }
            #expect(responses.map(\.value) == Array(repeating: "data", count: 40))
            #expect(authenticator.refreshed.all == [Token("old", requiresRefresh: true)])
            #expect(count("/token", server) == 1)
            #expect(count("/data", server) == 40)
            #expect(count("/data", server, "t1") == 40)
            #expect(interceptor.credential == Token("t1"))
        }
    }

    @Test func oneRefreshServesFortyRequestsThatWereRefused() async throws {
        try await withService(valid: nil) { server, _ in
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
            let session = makeSession()
            let url = server.url("/data")
            let responses = await gather(40) { _ in session.request(url, interceptor: interceptor).validate() }
            #expect(responses.map(\.value) == Array(repeating: "data", count: 40))
            #expect(authenticator.refreshed.all == [Token("old")])
            #expect(count("/token", server) == 1)
            #expect(count("/data", server, "t1") == 40)
        }
    }

    @Test func aFailedRefreshFailsAllRequestsWithAnExpiredToken() async throws {
        try await withService(valid: nil) { server, _ in
            let completions = Calls<TokenCompletion>()
            let authenticator = TokenAuthenticator { _, _, completion in completions.add(completion) }
            let authentication = AuthenticationInterceptor(
                authenticator: authenticator, credential: Token("old", requiresRefresh: true))
            let adapted = Calls<Void>()
            let counting = Adapter { request, _, completion in
                adapted.add(())
                completion(.success(request))
            }
            let interceptor = Interceptor(interceptors: [counting, authentication])
            let session = makeSession()
            let url = server.url("/data")
            async let gathered = gather(40) { _ in session.request(url, interceptor: interceptor).validate() }
            for _ in 0..<40 { _ = await adapted.first() }
            let completion = try #require(await completions.first())
            // The failure follows the fortieth adaptation, which the session's queue is about to finish.
            session.rootQueue.async { completion(.failure(TestFailure())) }
            let responses = await gathered
            #expect(responses.filter { $0.error?.interceptorError is TestFailure }.count == 40)
            #expect(authenticator.refreshed.all.count == 1)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aFailedRefreshFailsAllRequestsThatWereRefused() async throws {
        try await withService(valid: nil) { server, _ in
            let completions = Calls<TokenCompletion>()
            let authenticator = TokenAuthenticator { _, _, completion in completions.add(completion) }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
            let session = makeSession()
            // No request is refused before all have the old token. An earlier refresh would delay the others.
            server.handle("GET", "/data") { _ in
                while authenticator.applied.all.count < 40 { sched_yield() }
                return Response(status: 401)
            }
            let url = server.url("/data")
            async let gathered = gather(40) { _ in session.request(url, interceptor: interceptor).validate() }
            for _ in 0..<40 { _ = await authenticator.judged.first() }
            let completion = try #require(await completions.first())
            session.rootQueue.async { completion(.failure(TestFailure())) }
            let responses = await gathered
            for response in responses {
                guard case .requestRetryFailed(let retryError, let original) = response.error else {
                    Issue.record("\(String(describing: response.error))")
                    continue
                }
                #expect(retryError is TestFailure)
                #expect(original.asAFError?.responseCode == 401)
            }
            #expect(responses.count == 40)
            #expect(authenticator.refreshed.all.count == 1)
            #expect(count("/data", server) == 40)
        }
    }

    @Test func aTokenThatIsRevokedMidWayIsRefreshedOnce() async throws {
        try await withService(valid: "a") { server, service in
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("a"))
            let session = makeSession(nil)
            let url = server.url("/data")
            let before = await gather(10) { _ in session.request(url, interceptor: interceptor).validate() }
            service.revoke()
            let after = await gather(30) { _ in session.request(url, interceptor: interceptor).validate() }
            #expect((before + after).map(\.value) == Array(repeating: "data", count: 40))
            #expect(count("/token", server) == 1)
        }
    }

    @Test func aRefusalOfAnEarlierTokenIsRetriedWithoutARefresh() async throws {
        try await withService(valid: "a") { server, service in
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("a"))
            let session = makeSession()
            let slow = session.request(server.url("/slow"), interceptor: interceptor).validate().serializingString()
            try await server.waitForRequests(1, to: "/slow")
            service.revoke()
            let data = session.request(server.url("/data"), interceptor: interceptor).validate().serializingString()
            let text = try await data.value
            #expect(text == "data")
            // Two signals: one for the refusal of the request with the old token, and one for the answer to the retry.
            service.slowGate.signal()
            service.slowGate.signal()
            let slowText = try await slow.value
            #expect(slowText == "data")
            #expect(count("/token", server) == 1)
            #expect(count("/slow", server, "a") == 1)
            #expect(count("/slow", server, "t1") == 1)
        }
    }

    @Test func aServerThatRefusesEveryTokenIsAskedForFiveInTheWindow() async throws {
        try await withService(valid: nil) { server, _ in
            server.handle("GET", "/data") { _ in Response(status: 401) }
            let clock = SteppedClock()
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator, credential: Token("old"), refreshWindow: .init(), now: { clock.now() })
            let session = makeSession(nil)
            let first = await session.request(server.url("/data"), interceptor: interceptor).validate().response()
            #expect(first.error?.interceptorError as? AuthenticationError == .excessiveRefresh)
            #expect(first.response?.statusCode == 401)
            #expect(count("/token", server) == 5)
            #expect(count("/data", server) == 6)
            clock.advance(30)
            let second = await session.request(server.url("/data"), interceptor: interceptor).validate().response()
            #expect(second.error?.interceptorError as? AuthenticationError == .excessiveRefresh)
            #expect(count("/token", server) == 5)
            clock.advance(1)
            _ = await session.request(server.url("/data"), interceptor: interceptor).validate().response()
            #expect(count("/token", server) == 10)
        }
    }

    @Test func withoutAWindowRefreshesAreUnlimited() async throws {
        try await withService(valid: nil) { server, _ in
            server.handle("GET", "/data") { request in
                Response(status: request.headers["Authorization"] == "Bearer t12" ? 200 : 401)
            }
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator, credential: Token("old"), refreshWindow: nil)
            let request = makeSession().request(server.url("/data"), interceptor: interceptor).validate()
            #expect(await request.response().error == nil)
            #expect(request.retryCount == 12)
        }
    }

    @Test func otherFailuresAreNotRetried() async throws {
        try await withTestServer { server async throws in
            server.script("/status", [], afterwards: .status(500))
            server.script("/closed", [], afterwards: .closeBeforeHead)
            let authenticator = TokenAuthenticator { $2(.success($0)) }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("a"))
            let session = makeSession(nil)
            let refused = session.request(server.url("/status"), interceptor: interceptor).validate()
            #expect(await refused.response().error?.responseCode == 500)
            let closed = session.request(server.url("/closed"), interceptor: interceptor).validate()
            #expect(await closed.response().error?.isSessionTaskError == true)
            #expect(authenticator.judged.all == [500], "Without an answer there is nothing to judge by.")
            #expect(authenticator.refreshed.all.isEmpty)
            #expect(refused.retryCount + closed.retryCount == 0)
        }
    }

    @Test func aRefusalAfterTheCredentialWasTakenAwayFailsForWantOfOne() async throws {
        try await withTestServer { server async throws in
            let authenticator = TokenAuthenticator { $2(.success($0)) }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("a"))
            server.handle("GET", "/data") { _ in
                interceptor.credential = nil
                return Response(status: 401)
            }
            let response = await makeSession().request(server.url("/data"), interceptor: interceptor).validate()
                .response()
            guard case .requestRetryFailed(let error, _) = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(error as? AuthenticationError == .missingCredential)
            #expect(authenticator.refreshed.all.isEmpty)
        }
    }

    @Test func aFailedAdaptationIsNotTakenForARefusalOfTheAttemptBefore() async throws {
        try await withService(valid: nil) { server, _ in
            // The first refresh gives a token that is due at once, the second fails.
            let authenticator = TokenAuthenticator { credential, _, completion in
                completion(
                    credential.value == "old" ? .success(Token("new", requiresRefresh: true)) : .failure(TestFailure()))
            }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
            let request = makeSession().request(server.url("/data"), interceptor: interceptor).validate()
            let response = await request.response()
            guard case .requestAdaptationFailed(let error) = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(error is TestFailure)
            #expect(authenticator.refreshed.all.map(\.value) == ["old", "new"])
            #expect(authenticator.judged.all == [401])
        }
    }

    @Test func aCancelledRequestDoesNotWaitAndOthersContinue() async throws {
        try await withService(valid: nil) { server, service in
            let completions = Calls<TokenCompletion>()
            let authenticator = TokenAuthenticator { _, _, completion in completions.add(completion) }
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator, credential: Token("old", requiresRefresh: true))
            let session = makeSession()
            let cancelled = session.request(server.url("/data"), interceptor: interceptor).serializingString()
            let completion = try #require(await completions.first())
            let other = session.request(server.url("/data"), interceptor: interceptor).serializingString()
            cancelled.cancel()
            #expect(await cancelled.response.error?.isExplicitlyCancelledError == true)
            completion(.success(Token(service.issue())))
            let text = try await other.value
            #expect(text == "data")
            #expect(server.requests.count == 1)
        }
    }

    @Test func aRefreshMayBlockUntilARequestOfItsSessionEnds() async throws {
        try await withService(valid: nil) { server, _ in
            let url = server.url("/token")
            let authenticator = TokenAuthenticator { _, session, completion in
                let ended = DispatchSemaphore(value: 0)
                let tokens = Calls<Token>()
                session.request(url).responseString(queue: testQueue) { response in
                    if let value = response.value { tokens.add(Token(value)) }
                    ended.signal()
                }
                // The wait ends only if the refresh does not block the queue that its request needs.
                _ = ended.wait(timeout: .now() + 20)
                completion(tokens.all.first.map { .success($0) } ?? .failure(TestFailure()))
            }
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
            let request = makeSession().request(server.url("/data"), interceptor: interceptor).validate()
            let text = try await request.serializingString().value
            #expect(text == "data")
        }
    }

    @Test func requestsOfSeveralSessionsShareOneRefresh() async throws {
        try await withService(valid: nil) { server, _ in
            let authenticator = TokenAuthenticator(TokenService.refresh(at: server.url("/token")))
            let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
            let sessions = [makeSession(), makeSession()]
            let url = server.url("/data")
            let responses = await gather(20) { index in
                sessions[index % 2].request(url, interceptor: interceptor).validate()
            }
            #expect(responses.map(\.value) == Array(repeating: "data", count: 20))
            #expect(count("/token", server) == 1)
        }
    }
}
