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

/// A preprocessor that holds the serializer of a response until a test releases it.
struct HoldingPreprocessor: DataPreprocessor {
    let entered = Calls<Void>()
    let leave = DispatchSemaphore(value: 0)

    func preprocess(_ data: Data) throws -> Data {
        entered.add(())
        leave.wait()
        return data
    }
}

/// A stage of a request at which it waits for an external event.
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

    /// The number of requests that the server has received by then.
    var requestsSeen: Int {
        switch self {
        case .notStarted, .preparing, .queued: 0
        default: 1
        }
    }

    /// The number of requests until the end, once the request continues.
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
    /// Triggers the event for which the request waits.
    let goOn: @Sendable () -> Void

    /// - Parameter delay: The delay of the retry, in seconds.
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
        // A missing body cannot be serialized.
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

    /// Waits until the loop of the session has taken its commands.
    func passLoop(_ server: TestServer) async throws {
        server.serve("/loop", .text("loop"))
        #expect(try await session.request(server.url("/loop")).serializingString().value == "loop")
    }

    /// Waits until the session has finished its pending work for the request.
    func settle(_ server: TestServer) async throws {
        server.serve("/fence", .text("fence"))
        #expect(try await makeSession().request(server.url("/fence")).serializingString().value == "fence")
        await withCheckedContinuation { continuation in
            session.rootQueue.async { testQueue.async { continuation.resume() } }
        }
    }
}

extension Request {
    /// Waits at most five seconds until the request is in `state`, and yields to the scheduler meanwhile.
    func reaches(_ state: RequestLifecycle.State) async {
        let limit = ContinuousClock.now + .seconds(5)
        while read({ $0.lifecycle.state }) != state, .now < limit { await Task.yield() }
        #expect(read { $0.lifecycle.state } == state)
    }
}
