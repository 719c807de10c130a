import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferKitCombine
import TransferTestServer
import TransferTestSupport

/// Publishers of responses, with a real server.
@Suite("Publishers", .timeLimit(.minutes(1)))
struct PublisherTests {
    struct Value: Codable, Sendable, Equatable { let name: String }

    private static let queue = DispatchQueue(label: "publishers")

    private func withSession(_ body: (TestServer, Session) async throws -> Void) async throws {
        try await withTestServer { server in
            server.serveHTTPBin()
            server.serve("/value", .text(#"{"name": "a"}"#))
            server.serve("/other", .text(#"{"name": "b"}"#))
            try await body(server, Session())
        }
    }

    /// Returns the values of a publisher until its end.
    private func all<P: Publisher>(_ publisher: P) async -> (
        values: [P.Output], end: Subscribers.Completion<P.Failure>?
    )
    where P.Output: Sendable, P.Failure: Sendable {
        let collected = Mutex<([P.Output], Subscribers.Completion<P.Failure>?)>(([], nil))
        let tokens = Tokens()
        await withCheckedContinuation { continuation in
            publisher.sink { completion in
                collected.withLock { $0.1 = completion }
                continuation.resume()
            } receiveValue: { value in
                collected.withLock { $0.0.append(value) }
            }
            .store(in: tokens)
        }
        return collected.withLock { $0 }
    }

    @Test func aDecodableIsPublishedOnceAndThenTheEnd() async throws {
        try await withSession { server, session in
            let publisher = session.request(server.url("/value")).publishDecodable(type: Value.self, queue: Self.queue)
            let (values, end) = await all(publisher)
            #expect(values.map(\.value) == [Value(name: "a")] && end == .finished)
        }
    }

    @Test func everyKindOfValueIsPublished() async throws {
        try await withSession { server, session in
            let text = #"{"name": "a"}"#
            let request = session.request(server.url("/value"))
            let data = await all(request.publishData(queue: Self.queue)).values
            #expect(data.map(\.value) == [Data(text.utf8)])
            let string = await all(session.request(server.url("/value")).publishString(queue: Self.queue)).values
            #expect(string.map(\.value) == [text])
            let bare = await all(session.request(server.url("/value")).publishUnserialized(queue: Self.queue)).values
            #expect(bare.map(\.value) == [Data(text.utf8)])
            let made = session.request(server.url("/value")).publishResponse(using: .string, on: Self.queue)
            let own = await all(made).values
            #expect(own.map(\.value) == [text])
        }
    }

    @Test func nothingIsSentBeforeASubscription() async throws {
        try await withSession { server, session in
            let request = session.request(server.url("/value"))
            let publisher = request.publishData(queue: Self.queue)
            #expect(!request.isResumed && request.isInitialized)
            _ = await all(publisher)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aFailureIsAResponseOfTheFirstFormAndTheFailureOfTheOthers() async throws {
        try await withSession { server, session in
            func failing() -> DataResponsePublisher<Data> {
                session.request(server.url("/status/404")).validate().publishData(queue: Self.queue)
            }
            let response = await all(failing())
            #expect(response.values.map { $0.error?.responseCode } == [404] && response.end == .finished)
            let result = await all(failing().result())
            #expect(result.values.count == 1 && result.end == .finished)
            #expect(throws: AFError.self) { try result.values.first?.get() }
            let value = await all(failing().value())
            #expect(value.values.isEmpty)
            guard case .failure(let error) = value.end else { return #expect(Bool(false), "no failure") }
            #expect(error.responseCode == 404)
        }
    }

    /// A timeout must not look like a regular end.
    @Test func theResultsOfAStreamEndWithTheFailureOfItsRequest() async throws {
        try await withSession { server, session in
            server.serve("/cut", .text("first and second"))
            server.script("/cut", [], afterwards: .cut(after: 5))
            let stream = session.streamRequest(server.url("/cut")).publishString(queue: Self.queue)
            let results = await all(stream.result())
            #expect(results.end == .finished)
            #expect((try? results.values.first?.get()) == "first")
            #expect(results.values.count == 2)
            guard case .failure(let error)? = results.values.last else { return #expect(Bool(false), "no failure") }
            #expect(error.isSessionTaskError)
        }
    }

    @Test func twoRequestsAreCombined() async throws {
        try await withSession { server, session in
            let first = session.request(server.url("/value")).publishDecodable(type: Value.self, queue: Self.queue)
            let second = session.request(server.url("/other")).publishDecodable(type: Value.self, queue: Self.queue)
            let (values, _) = await all(
                first.zip(second).map { pair in [pair.0.value?.name, pair.1.value?.name].compactMap(\.self) })
            #expect(values == [["a", "b"]])
        }
    }

    @Test func aSecondRequestFollowsTheFirst() async throws {
        try await withSession { server, session in
            let other = server.url("/other")
            let chain = session.request(server.url("/value")).publishDecodable(type: Value.self, queue: Self.queue)
                .flatMap { _ in session.request(other).publishDecodable(type: Value.self, queue: Self.queue) }
            let (values, _) = await all(chain)
            #expect(values.map(\.value) == [Value(name: "b")])
            #expect(server.requests.map(\.path) == ["/value", "/other"])
        }
    }

    @Test func aCancelledSubscriptionCancelsTheRequest() async throws {
        try await withSession { server, session in
            server.script("/stalls", [], afterwards: .stall(after: 0))
            server.serve("/stalls", .text("{}"))
            let request = session.request(server.url("/stalls"))
            let reported = Mutex(0)
            let token = request.publishData(queue: Self.queue).sink { _ in reported.withLock { $0 += 1 } }
            try await server.waitForRequests(1)
            token.cancel()
            let error = await request.serializingData().response.error
            #expect(error?.isExplicitlyCancelledError == true && request.isCancelled)
            Self.queue.sync {}
            #expect(reported.withLock { $0 } == 0)
        }
    }

    @Test func aDownloadPublishesWhereItsFileIs() async throws {
        try await withSession { server, session in
            let folder = try TemporaryFolder("publishers")
            let place = URL(fileURLWithPath: folder.path("value.json"))
            let request = session.download(server.url("/value"), to: { _, _ in (place, [.removePreviousFile]) })
            let (values, _) = await all(request.publishURL(queue: Self.queue))
            #expect(values.map(\.value) == [place])
            let decoded = session.download(server.url("/value")).publishDecodable(type: Value.self, queue: Self.queue)
            let value = await all(decoded.value()).values
            #expect(value == [Value(name: "a")])
            let bare = await all(session.download(server.url("/value")).publishUnserialized(queue: Self.queue)).values
            #expect(bare.first?.fileURL != nil)
        }
    }

    @Test func aStreamPublishesItsPiecesAndItsEnd() async throws {
        try await withSession { server, session in
            let publisher = session.streamRequest(server.url("/bytes/5000")).publishData(queue: Self.queue)
            let (values, end) = await all(publisher)
            #expect(values.compactMap(\.value).reduce(0) { $0 + $1.count } == 5000)
            #expect(values.last?.completion?.response?.statusCode == 200 && end == .finished)
            let lines = await all(session.streamRequest(server.url("/value")).publishString(queue: Self.queue).value())
            #expect(lines.values.joined() == #"{"name": "a"}"#)
            guard case .finished = lines.end else { return #expect(Bool(false), "no end") }
        }
    }

    @Test func aStreamsFailureIsThePublishers() async throws {
        try await withSession { server, session in
            let publisher = session.streamRequest(server.url("/status/500")).validate()
                .publishDecodable(type: Value.self, queue: Self.queue).value()
            let (values, end) = await all(publisher)
            #expect(values.isEmpty)
            guard case .failure(let error) = end else { return #expect(Bool(false), "no failure") }
            #expect(error.responseCode == 500)
        }
    }

    /// The rest stays at the server: neither network buffers nor this process hold it.
    @Test func aSubscriberThatAsksForOnePieceGetsOneAndStopsTheReading() async throws {
        try await withSession { server, session in
            let total: Int64 = 64 << 20
            server.serve("/large", ServedFile(.random(seed: 1, count: total)))
            let request = session.streamRequest(server.url("/large"))
            let subscriber = OneByOne()
            request.publishData(queue: Self.queue).subscribe(subscriber)
            await subscriber.next()
            #expect(subscriber.received == 1)
            while !request.isSuspended { await Task.yield() }
            #expect(subscriber.received == 1 && !subscriber.isOver)
            while !subscriber.isOver { await subscriber.next() }
            #expect(Int64(subscriber.bytes) == total)
        }
    }
}

/// A store of subscriptions.
final class Tokens: Sendable {
    private let all = Mutex<[Held]>([])

    private struct Held: @unchecked Sendable { let token: AnyCancellable }  // Only stored.

    func keep(_ token: AnyCancellable) {
        let held = Held(token: token)
        all.withLock { $0.append(held) }
    }
}

extension AnyCancellable {
    func store(in tokens: Tokens) { tokens.keep(self) }
}

/// A subscriber that requests one piece at a time, on demand.
private final class OneByOne: Subscriber, @unchecked Sendable {  // A lock protects the whole state.
    typealias Input = DataStreamRequest.Stream<Data, AFError>
    typealias Failure = Never

    private struct State {
        var subscription: (any Subscription)?
        var received = 0
        var bytes = 0
        var isOver = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let lock = NSLock()
    private var state = State()

    var received: Int { lock.withLock { state.received } }
    var bytes: Int { lock.withLock { state.bytes } }
    var isOver: Bool { lock.withLock { state.isOver } }

    /// Waits until another piece, or the end, has come.
    func next() async {
        await withCheckedContinuation { continuation in
            let subscription = lock.withLock { () -> (any Subscription)? in
                state.waiting = continuation
                return state.subscription
            }
            subscription?.request(.max(1))
        }
    }

    func receive(subscription: any Subscription) { lock.withLock { state.subscription = subscription } }

    func receive(_ input: Input) -> Subscribers.Demand {
        let waiting = lock.withLock { () -> CheckedContinuation<Void, Never>? in
            state.received += 1
            state.bytes += input.value?.count ?? 0
            if input.completion != nil { state.isOver = true }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
        return .none
    }

    func receive(completion: Subscribers.Completion<Never>) {}
}
