import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Interceptors and retries")
struct InterceptorTests {
    @Test func theSessionsAdapterRunsBeforeTheRequests() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(interceptor: HeaderAdapter("X-A", "session")).request(
                server.url("/x"), interceptor: HeaderAdapter("X-A", "request"))
            _ = await request.response()
            #expect(server.requests.first?.headers["X-A"] == "session,request")
            #expect(request.requests.count == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aFailedAdaptationFailsTheRequest() async throws {
        struct Refusing: RequestInterceptor {
            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) { completion(.failure(TestFailure())) }
        }
        let response = await makeSession().request("http://127.0.0.1/", interceptor: Refusing()).response()
        guard case .requestAdaptationFailed(let error) = response.error else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect(error is TestFailure)
    }

    @Test func aBodyThatAnAdapterGivesAGETFailsTheAdaptation() async throws {
        let adapter = Adapter { request, _, completion in
            var request = request
            request.httpBody = Data("body".utf8)
            completion(.success(request))
        }
        let failed = Calls<AFError>()
        let monitor = ClosureEventMonitor(queue: testQueue)
        monitor.requestDidFailToAdaptURLRequestWithError = { failed.add($2) }
        var settings = SessionSettings()
        settings.eventMonitors = [monitor]
        let response = await Session(settings).request("http://127.0.0.1/", interceptor: adapter).response()
        guard case .requestAdaptationFailed(let cause) = response.error,
            case .urlRequestValidationFailed(.bodyDataInGETRequest(let body))? = cause as? AFError
        else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect(body == Data("body".utf8))
        #expect(await failed.first()?.isRequestAdaptationError == true)
    }

    @Test func aRetriedRequestIsMadeAnewAndAdaptedAgain() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.closeBeforeHead, .cut(after: 0).and(.contentLength(off: 9))])
            let adapter = HeaderAdapter("X-A", "1")
            let request = makeSession(interceptor: adapter).request(
                server.url("/x"),
                interceptor: ClosureRetrier { request, _ in request.retryCount < 3 ? .retry : .doNotRetry })
            #expect(try await request.serializingString().value == "x")
            #expect(request.retryCount == 2)
            #expect(adapter.calls == 3)
            #expect(request.error == nil)
        }
    }

    @Test func theFirstRetrierWithAnOpinionDecides() async throws {
        let asked = Calls<String>()
        let session = makeSession(
            interceptor: ClosureRetrier { request, _ in
                asked.add("session")
                return request.retryCount == 0 ? .retry : .doNotRetry
            })
        let response = await session.request(
            "nonsense://x",
            interceptor: ClosureRetrier { _, _ in
                asked.add("request")
                return .doNotRetry
            }
        ).response()
        #expect(response.error != nil)
        #expect(asked.all == ["session", "session", "request"])
    }

    @Test func aRetrierCanReplaceTheError() async throws {
        let response = await makeSession(interceptor: ClosureRetrier { _, _ in .doNotRetryWithError(TestFailure()) })
            .request("nonsense://x").response()
        guard case .requestRetryFailed(let retryError, let original) = response.error else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect(retryError is TestFailure)
        #expect(original is AFError)
    }

    @Test func aRequestThatWaitsForItsRetryCanBeCancelled() async throws {
        try await withTestServer { server async throws in
            let asked = Calls<Void>()
            server.script("/x", [], afterwards: .closeBeforeHead)
            let request = makeSession().request(
                server.url("/x"),
                interceptor: ClosureRetrier { _, _ in
                    asked.add(())
                    return .retryWithDelay(3600)
                })
            let task = request.serializingData()
            await asked.first()
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }
}
