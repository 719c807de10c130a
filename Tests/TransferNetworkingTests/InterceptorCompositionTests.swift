import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Interceptors of closures and of other interceptors")
struct InterceptorCompositionTests {
    /// Returns an adapter that appends its name to the field X-Trace.
    static func tracing(_ name: String) -> Adapter {
        Adapter { request, _, completion in
            var request = request
            let before = request.headers["X-Trace"].map { "\($0)," } ?? ""
            request.headers.update(name: "X-Trace", value: before + name)
            completion(.success(request))
        }
    }

    /// Returns a retrier that records its call.
    static func answering(_ name: String, _ asked: Calls<String>, _ result: RetryResult) -> Retrier {
        Retrier { _, _, _, completion in
            asked.add(name)
            completion(result)
        }
    }

    static let failing = Adapter { _, _, completion in completion(.failure(TestFailure())) }

    /// Returns the trace that the server received from a request with this interceptor.
    private func trace(_ interceptor: any RequestInterceptor) async throws -> String? {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let text = try await makeSession().request(server.url("/x"), interceptor: interceptor).serializingString()
                .value
            #expect(text == "x")
            return server.requests.first?.headers["X-Trace"]
        }
    }

    /// Returns the retrier's decision for a request that failed before it was sent.
    private func decision(_ retrier: any RequestRetrier) async -> String {
        let session = makeSession(starts: false)
        let results = Calls<RetryResult>()
        retrier.retry(session.request("nonsense://x"), for: session, dueTo: TestFailure()) { results.add($0) }
        return await results.first().map { "\($0)" } ?? "no answer"
    }

    // MARK: Adapters

    @Test func anAdapterOfAClosureChangesTheRequest() async throws {
        let trace = try await trace(Self.tracing("a"))
        #expect(trace == "a")
    }

    @Test func adaptersRunInTheirOrderAndInterceptorsAfterThem() async throws {
        let interceptor = Interceptor(
            adapters: [Self.tracing("a"), Self.tracing("b")], interceptors: [Self.tracing("c"), Self.tracing("d")])
        let seen = try await trace(interceptor)
        #expect(seen == "a,b,c,d")
        #expect(interceptor.adapters.count == 4)
        #expect(interceptor.retriers.count == 2)
    }

    @Test func interceptorsNest() async throws {
        let inner = Interceptor(adapters: [Self.tracing("b"), Self.tracing("c")])
        let trace = try await trace(Interceptor(adapters: [Self.tracing("a"), inner, Self.tracing("d")]))
        #expect(trace == "a,b,c,d")
    }

    @Test func theFirstFailedAdapterEndsTheAdaptation() async throws {
        let called = Calls<String>()
        let interceptor = Interceptor(adapters: [
            Self.tracing("a"), Self.failing,
            Adapter { request, _, completion in
                called.add("behind")
                completion(.success(request))
            },
        ])
        try await withTestServer { server async throws in
            let request = makeSession().request(server.url("/x"), interceptor: interceptor)
            let response = await request.response()
            guard case .requestAdaptationFailed(let error) = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(error is TestFailure)
            #expect(called.all.isEmpty)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func anEmptyInterceptorChangesNothingAndRetriesNothing() async throws {
        let trace = try await trace(Interceptor())
        #expect(trace == nil)
        let decided = await decision(Interceptor())
        #expect(decided == "doNotRetry")
    }

    @Test func anAdapterMayAnswerLaterFromAnotherThread() async throws {
        let later = Adapter { request, session, completion in
            testQueue.async { Self.tracing("later").adapt(request, for: session, completion: completion) }
        }
        let trace = try await trace(Interceptor(adapters: [later, Self.tracing("after")]))
        #expect(trace == "later,after")
    }

    @Test func anAdapterThatAnswersTwiceHasTheNextOneCalledOnce() async throws {
        let called = Calls<String>()
        let twice = Adapter { request, _, completion in
            completion(.success(request))
            completion(.success(request))
        }
        let counting = Adapter { request, _, completion in
            called.add("next")
            completion(.success(request))
        }
        _ = try await trace(Interceptor(adapters: [twice, counting]))
        // The request's own interceptor and its session's are chained likewise.
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession(interceptor: counting)
            _ = await session.request(server.url("/x"), interceptor: twice).response()
        }
        #expect(called.all == ["next", "next"])
    }

    @Test func downloadsAndUploadsAreAdaptedToo() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.acceptUploads("/up")
            let session = makeSession(interceptor: Self.tracing("all"))
            _ = await session.download(server.url("/x")).serializingDownloadedFileURL().response
            _ = await session.upload(Data("y".utf8), to: server.url("/up")).response()
            #expect(server.requests.map { $0.headers["X-Trace"] } == ["all", "all"])
        }
    }

    // MARK: The state

    /// An interceptor that records the state that it receives.
    private struct Stateful: RequestInterceptor {
        let states: Calls<RequestAdapterState>

        func adapt(
            _ urlRequest: URLRequest, using state: RequestAdapterState,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            states.add(state)
            completion(.success(urlRequest))
        }
    }

    @Test func anAdapterLearnsWhichRequestOfWhichSessionItIs() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.closeBeforeHead])
            let states = Calls<RequestAdapterState>()
            let session = makeSession(interceptor: Stateful(states: states))
            let request = session.request(
                server.url("/x"),
                interceptor: Interceptor(
                    adapters: [Stateful(states: states)],
                    retriers: [Retrier { $3($0.retryCount == 0 ? .retry : .doNotRetry) }]))
            let text = try await request.serializingString().value
            #expect(text == "x")
            // Two attempts, each adapted by the interceptors of the request and of the session.
            #expect(states.all.map(\.requestID) == Array(repeating: request.id, count: 4))
            for state in states.all { #expect(state.session === session) }
        }
    }

    @Test func theFormWithoutTheStateIsCalledWhenTheOtherIsNotWritten() async throws {
        let sessions = Calls<Session>()
        struct Plain: RequestAdapter {
            let sessions: Calls<Session>
            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                sessions.add(session)
                completion(.success(urlRequest))
            }
        }
        let session = makeSession(interceptor: Interceptor(adapters: [Plain(sessions: sessions)]))
        _ = await session.request("http://127.0.0.1:1/").response()
        #expect(sessions.all.count == 1)
        #expect(sessions.all.first === session)
    }

    @Test(arguments: [true, false])
    func anInterceptorCallsTheFormItWasCalledWith(withState: Bool) async throws {
        struct Both: RequestAdapter {
            let called: Calls<String>
            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) { called.add("session") }
            func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) { called.add("state") }
        }
        let called = Calls<String>()
        let interceptor = Interceptor(adapters: [Both(called: called)])
        let session = makeSession(starts: false)
        let request = try URLRequest(url: "http://127.0.0.1/", method: .get)
        if withState {
            interceptor.adapt(request, using: RequestAdapterState(requestID: UUID(), session: session)) { _ in }
        } else {
            interceptor.adapt(request, for: session) { _ in }
        }
        #expect(called.all == [withState ? "state" : "session"])
    }

    @Test func aSubclassOfAnAdapterMayOverrideTheFormWithTheState() async throws {
        final class Naming: Adapter, @unchecked Sendable {  // This class adds nothing.
            override func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                var request = urlRequest
                request.headers.update(name: "X-Trace", value: state.requestID.uuidString)
                super.adapt(request, using: state, completion: completion)
            }
        }
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let adapter = Naming { Self.tracing("closure").adapt($0, for: $1, completion: $2) }
            let request = makeSession().request(server.url("/x"), interceptor: adapter)
            _ = await request.response()
            #expect(server.requests.first?.headers["X-Trace"] == "\(request.id.uuidString),closure")
        }
    }

    // MARK: Retriers

    @Test func aRetrierOfAClosureDecides() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.closeBeforeHead])
            let asked = Calls<Int>()
            let session = makeSession()
            let retrier = Retrier { request, given, error, completion in
                asked.add(request.retryCount)
                completion(given === session && error is AFError ? .retry : .doNotRetry)
            }
            let request = session.request(server.url("/x"), interceptor: retrier)
            let text = try await request.serializingString().value
            #expect(text == "x")
            #expect(asked.all == [0])
        }
    }

    @Test(arguments: [RetryResult.retry, .retryWithDelay(3), .doNotRetryWithError(TestFailure())])
    func theFirstRetrierThatDecidesIsTheLastOneAsked(result: RetryResult) async throws {
        let asked = Calls<String>()
        let interceptor = Interceptor(
            retriers: [Self.answering("a", asked, .doNotRetry), Self.answering("b", asked, result)],
            interceptors: [Self.answering("c", asked, .retry)])
        let decided = await decision(interceptor)
        #expect(decided == "\(result)")
        #expect(asked.all == ["a", "b"])
    }

    @Test func retriersThatAllDeclineAreAllAskedInOrder() async throws {
        let asked = Calls<String>()
        let interceptor = Interceptor(
            retriers: [Self.answering("a", asked, .doNotRetry), Self.answering("b", asked, .doNotRetry)],
            interceptors: [Self.answering("c", asked, .doNotRetry)])
        let decided = await decision(interceptor)
        #expect(decided == "doNotRetry")
        #expect(asked.all == ["a", "b", "c"])
    }

    @Test func aRetrierThatAnswersTwiceHasTheNextOneAskedOnce() async throws {
        let asked = Calls<String>()
        let twice = Retrier { _, _, _, completion in
            completion(.doNotRetry)
            completion(.doNotRetry)
        }
        let decided = await decision(Interceptor(retriers: [twice, Self.answering("next", asked, .doNotRetry)]))
        #expect(decided == "doNotRetry")
        #expect(asked.all == ["next"])
    }

    @Test func aSubclassOfAnInterceptorMayOverrideBothHalves() async throws {
        final class Overriding: Interceptor, @unchecked Sendable {  // This class adds nothing.
            override func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                super.adapt(urlRequest, using: state) { result in
                    completion(result.map { InterceptorCompositionTests.traced($0, "override") })
                }
            }
            override func retry(
                _ request: Request, for session: Session, dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) { completion(.retryWithDelay(0.25)) }
        }
        let interceptor = Overriding(adapters: [Self.tracing("a")])
        let trace = try await trace(interceptor)
        #expect(trace == "a,override")
        let decided = await decision(interceptor)
        #expect(decided == "retryWithDelay(0.25)")
    }

    static func traced(_ request: URLRequest, _ name: String) -> URLRequest {
        var request = request
        request.headers.update(name: "X-Trace", value: (request.headers["X-Trace"].map { "\($0)," } ?? "") + name)
        return request
    }

    // MARK: Factories

    /// The program's usual forms: the request fails once, and the interceptor of the factory adapts and retries it.
    @Test(arguments: 0..<5)
    func theFactoriesMakeWhatTheirNamesSay(form: Int) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.closeBeforeHead])
            let adapt: AdaptHandler = { $2(.success(Self.traced($0, "made"))) }
            let retry: RetryHandler = { $3($0.retryCount == 0 ? .retry : .doNotRetry) }
            let url = server.url("/x")
            let session = makeSession()
            let other = makeSession(interceptor: form == 0 ? Retrier(retry) : Adapter(adapt))
            let request =
                switch form {
                case 0: other.request(url, interceptor: .adapter(using: adapt))
                case 1: other.request(url, interceptor: .retrier(using: retry))
                case 2: session.request(url, interceptor: .interceptor(adapter: adapt, retrier: retry))
                case 3:
                    session.request(
                        url,
                        interceptor: .interceptor(adapter: .adapter(using: adapt), retrier: .retrier(using: retry)))
                default:
                    session.request(
                        url,
                        interceptor: .interceptor(
                            adapters: [.adapter(using: adapt)], retriers: [.retrier(using: retry)],
                            interceptors: [.connectionLostRetryPolicy]))
                }
            let text = try await request.serializingString().value
            #expect(text == "x")
            #expect(server.requests.map { $0.headers["X-Trace"] } == ["made", "made"])
        }
    }

    @Test func anInterceptorIsMadeOfTwoClosures() async throws {
        let interceptor = Interceptor(
            adaptHandler: { $2(.success(Self.traced($0, "closure"))) },
            retryHandler: { $3(.retryWithDelay(7)) })
        let trace = try await trace(interceptor)
        #expect(trace == "closure")
        let decided = await decision(interceptor)
        #expect(decided == "retryWithDelay(7.0)")
    }

    @Test func anInterceptorIsMadeOfAnAdapterAndARetrier() async throws {
        let asked = Calls<String>()
        let interceptor = Interceptor(adapter: Self.tracing("a"), retrier: Self.answering("r", asked, .retry))
        let trace = try await trace(interceptor)
        #expect(trace == "a")
        let decided = await decision(interceptor)
        #expect(decided == "retry")
        #expect(asked.all == ["r"])
    }
}
