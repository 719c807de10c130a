import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Very many requests at once on one session.
@Suite("Bursts of requests")
struct StressBurstTests {
    private static let count = 5_000

    /// The number of calls of each handler, with their arguments.
    private final class Tally: Sendable {
        private struct State {
            var calls: [Int]
            var failures: [AFError] = []
            var left: Int
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state: Mutex<State>

        init(_ count: Int) { state = Mutex(State(calls: Array(repeating: 0, count: count), left: count)) }

        var calls: [Int] { state.withLock { $0.calls } }
        var failures: [AFError] { state.withLock { $0.failures } }

        func add(_ index: Int, _ error: AFError?) {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.calls[index] += 1
                if let error { state.failures.append(error) }
                if state.calls[index] == 1 { state.left -= 1 }
                guard state.left == 0 else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        /// Waits until each handler was called.
        func all() async {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.left > 0 { state.waiter = continuation }
                    return state.left == 0
                }
                if isDone { continuation.resume() }
            }
        }
    }

    /// A request is released a moment after its last handler was enqueued.
    private func expectNoneActive(_ session: Session) async {
        let end = ContinuousClock.now + .seconds(5)
        while !session.active.all.isEmpty, ContinuousClock.now < end { await Task.yield() }
        #expect(session.active.all.isEmpty)
    }

    private func makeBurstSession(perHost: Int) -> Session {
        var settings = SessionSettings()
        settings.loops = 2
        settings.maximumConnectionsPerHost = perHost
        return Session(settings)
    }

    @Test func everyRequestOfABurstIsAnsweredOnceWithinTheLimitOfItsHost() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/x") { Response(body: .text($0.query ?? "")) }
            let session = makeBurstSession(perHost: 6)
            let tally = Tally(Self.count)
            let wrong = Mutex(0)
            for index in 0..<Self.count {
                session.request(server.url("/x?\(index)")).responseString(queue: testQueue) { response in
                    if response.value != "\(index)" { wrong.withLock { $0 += 1 } }
                    tally.add(index, response.error)
                }
            }
            await tally.all()
            testQueue.sync {}
            #expect(tally.calls.allSatisfy { $0 == 1 })
            #expect(tally.failures.isEmpty)
            #expect(wrong.withLock { $0 } == 0)
            #expect(server.requests.count == Self.count)
            #expect(server.peakRequests <= 6)
            #expect(server.peakRequests > 1)
            #expect(server.connectionCount <= 6 * session.settings.loops)
            await expectNoneActive(session)
        }
    }

    @Test func aBurstThatIsCancelledInTheMiddleEndsEveryRequestOnce() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/x") { Response(body: .text($0.query ?? "")) }
            let session = makeBurstSession(perHost: 6)
            let tally = Tally(Self.count)
            let isCancelled = Atomic(false)
            for index in 0..<Self.count {
                session.request(server.url("/x?\(index)")).responseString(queue: testQueue) { response in
                    tally.add(index, response.error)
                    // The cancellation comes after some requests have ended, whatever their number.
                    if index == 200, !isCancelled.exchange(true, ordering: .relaxed) { session.cancelAllRequests() }
                }
            }
            await tally.all()
            testQueue.sync {}
            #expect(tally.calls.allSatisfy { $0 == 1 })
            let failures = tally.failures
            #expect(failures.allSatisfy { $0.isExplicitlyCancelledError })
            #expect(failures.count > 0 && failures.count < Self.count)
            #expect(server.requests.count < Self.count)
            await expectNoneActive(session)
            // The slots of the cancelled requests are free again.
            #expect(try await session.request(server.url("/x?after")).serializingString().value == "after")
        }
    }

    /// Downloads use files, and so take another path through the engine.
    @Test func aBurstOfDownloadsThatIsCancelledLeavesNoFile() async throws {
        let folder = try TemporaryFolder("burst")
        try await withTestServer { server async throws in
            server.serve("/f", .random(seed: 1, count: 20_000), etag: "\"1\"")
            var settings = SessionSettings()
            settings.temporaryFolder = folder.path
            let session = Session(settings)
            let tally = Tally(500)
            let whole = Mutex<[URL]>([])
            for index in 0..<500 {
                session.download(server.url("/f")).responseURL(queue: testQueue) { response in
                    if let url = response.value { whole.withLock { $0.append(url) } }
                    tally.add(index, response.error)
                    if index == 50 { session.cancelAllRequests() }
                }
            }
            await tally.all()
            testQueue.sync {}
            #expect(tally.calls.allSatisfy { $0 == 1 })
            #expect(tally.failures.allSatisfy { $0.isExplicitlyCancelledError })
            let kept = whole.withLock { $0 }
            for url in kept { try FileManager.default.removeItem(at: url) }
            // A request that was opening its file when it was cancelled ends a moment after its handlers.
            let end = ContinuousClock.now + .seconds(5)
            while try !folder.files().isEmpty, ContinuousClock.now < end { await Task.yield() }
            let left = try folder.files()
            #expect(left.isEmpty)
        }
    }
}
