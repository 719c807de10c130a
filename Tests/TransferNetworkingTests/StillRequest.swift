import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Holds adapters and retriers until a test answers for them.
final class HoldingInterceptor: RequestInterceptor {
    let adapting = Calls<@Sendable () -> Void>()
    let retrying = Calls<@Sendable (RetryResult) -> Void>()
    private let holdsAdapters: Bool

    init(holdsAdapters: Bool = false) { self.holdsAdapters = holdsAdapters }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard holdsAdapters else { return completion(.success(urlRequest)) }
        adapting.add { completion(.success(urlRequest)) }
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { retrying.add(completion) }
}

/// Holds the serializer of a response until a test lets it go on.
struct HoldingPreprocessor: DataPreprocessor {
    let entered = Calls<Void>()
    let leave = DispatchSemaphore(value: 0)

    func preprocess(_ data: Data) throws -> Data {
        entered.add(())
        leave.wait()
        return data
    }
}

/// A place in the life of a request where it waits for somebody else.
enum Stage: CaseIterable {
    case notStarted, preparing, queued, beforeHead, afterHead, deciding, waitingToRetry, reconsidering, settling

    var state: RequestLifecycle.State {
        switch self {
        case .notStarted: .initialized
        case .preparing: .resumed(.preparing)
        case .queued: .resumed(.queued)
        case .beforeHead, .afterHead: .resumed(.transferring)
        case .deciding: .resumed(.deciding)
        case .waitingToRetry: .resumed(.waitingToRetry)
        case .reconsidering: .resumed(.reconsidering)
        case .settling: .resumed(.settling)
        }
    }

    /// Requests for it that the server has seen by then.
    var requestsSeen: Int {
        switch self {
        case .notStarted, .preparing, .queued: 0
        default: 1
        }
    }

    /// Those that it takes until the end when it goes on.
    var requestsNeeded: Int {
        switch self {
        case .deciding, .waitingToRetry, .reconsidering: 2
        default: 1
        }
    }
}

/// A request for `/x` that stands still at a stage.
struct StillRequest: Sendable {
    static let length = 50_000
    static var body: Data { Data(Content.random(seed: 5, count: Int64(length)).bytes()) }

    let session: Session
    let request: DataRequest
    let responses = Calls<AFDataResponse<Data>>()
    /// Makes happen what it waits for.
    let goOn: @Sendable () -> Void

    /// - Parameter delay: Of the retry; seconds.
    init(at stage: Stage, _ server: TestServer, delay: TimeInterval = 3600) async throws {
        server.serve("/x", .random(seed: 5, count: Int64(Self.length)))
        let interceptor = HoldingInterceptor(holdsAdapters: stage == .preparing)
        var settings = SessionSettings()
        settings.loops = 1
        settings.startRequestsImmediately = stage != .notStarted
        settings.interceptor = interceptor
        if stage == .queued { settings.maximumConnectionsPerHost = 1 }
        session = Session(settings)
        if stage == .queued {
            server.serve("/first", .text("first"))
            server.script("/first", [.holdHead])
            session.request(server.url("/first")).response(queue: testQueue) { _ in }
            try await server.waitForHeld(1)
        }
        request = session.request(server.url("/x"))
        let preprocessor = HoldingPreprocessor()
        var serializer = DataResponseSerializer()
        switch stage {
        case .beforeHead: server.script("/x", [.holdHead])
        case .afterHead: server.script("/x", [.stall(after: 1000)])
        case .deciding, .waitingToRetry: server.script("/x", [.status(500)])
        // A body that isn't there can't be serialized.
        case .reconsidering: server.script("/x", [.status(200)])
        case .settling: serializer = DataResponseSerializer(dataPreprocessor: preprocessor)
        case .notStarted, .preparing, .queued: break
        }
        let heads = Calls<Int>()
        request.onHTTPResponse(on: testQueue) { heads.add($0.statusCode) }
        if stage == .deciding || stage == .waitingToRetry { request.validate() }
        request.response(queue: testQueue, responseSerializer: serializer) { [responses] in responses.add($0) }
        let request = request
        switch stage {
        case .notStarted: goOn = { request.resume() }
        case .preparing:
            let answer = try #require(await interceptor.adapting.first())
            goOn = { answer() }
        case .queued: goOn = { server.release("/first") }
        case .beforeHead:
            try await server.waitForHeld(1)
            goOn = { server.release("/x") }
        case .afterHead:
            try await server.waitForHeld(1)
            _ = await heads.first()
            goOn = { server.release("/x") }
        case .deciding, .reconsidering:
            let answer = try #require(await interceptor.retrying.first())
            goOn = { answer(.retry) }
        case .waitingToRetry:
            let answer = try #require(await interceptor.retrying.first())
            answer(.retryWithDelay(delay))
            goOn = {}
        case .settling:
            _ = await preprocessor.entered.first()
            goOn = { preprocessor.leave.signal() }
        }
        await request.reaches(stage.state)
    }

    /// Until the loop of its session has taken the commands it was given.
    func passLoop(_ server: TestServer) async throws {
        server.serve("/loop", .text("loop"))
        #expect(try await session.request(server.url("/loop")).serializingString().value == "loop")
    }

    /// Until everything that the session had begun to do about it is done.
    func settle(_ server: TestServer) async throws {
        server.serve("/fence", .text("fence"))
        #expect(try await makeSession().request(server.url("/fence")).serializingString().value == "fence")
        await withCheckedContinuation { continuation in
            session.rootQueue.async { testQueue.async { continuation.resume() } }
        }
    }
}

extension Request {
    /// Waits until its life is at `state`, by taking part in the scheduler; five seconds at most.
    func reaches(_ state: RequestLifecycle.State) async {
        let limit = ContinuousClock.now + .seconds(5)
        while read({ $0.lifecycle.state }) != state, .now < limit { await Task.yield() }
        #expect(read { $0.lifecycle.state } == state)
    }
}
