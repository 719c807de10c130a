import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Streams of values", .timeLimit(.minutes(1)))
struct StreamOfTests {
    /// Makes a stream and its continuation.
    private func made(
        _ policy: StreamOf<Int>.BufferingPolicy = .unbounded, onTermination: (@Sendable () -> Void)? = nil
    ) -> (StreamOf<Int>, StreamBuffer<Int>) {
        let stream = StreamOf<Int>(bufferingPolicy: policy, onTermination: onTermination) { _ in }
        return (stream, stream.buffer)
    }

    private func all(_ stream: StreamOf<Int>) async -> [Int] {
        var values: [Int] = []
        for await value in stream { values.append(value) }
        return values
    }

    @Test func valuesComeInOrderAndTheLoopEndsWithTheStream() async {
        let (stream, buffer) = made()
        for value in 1...3 { buffer.yield(value) }
        buffer.finish()
        let values = await all(stream)
        #expect(values == [1, 2, 3])
    }

    @Test func aWaiterResumesAtAValueAndAtTheEnd() async {
        let (stream, buffer) = made()
        let taken = Calls<Int>()
        async let count = {
            for await value in stream { taken.add(value) }
            return taken.all.count
        }()
        buffer.yield(1)
        _ = await taken.first()
        buffer.yield(2)
        _ = await taken.first()
        buffer.finish()
        let sum = await count
        #expect(sum == 2)
    }

    @Test func nothingComesAfterTheEnd() async {
        let (stream, buffer) = made()
        buffer.yield(1)
        buffer.finish()
        buffer.yield(2)
        buffer.finish()
        let values = await all(stream)
        #expect(values == [1])
    }

    @Test func theOldestOrTheNewestAreKeptWhereAPolicySaysSo() async {
        for (policy, kept) in [
            (StreamOf<Int>.BufferingPolicy.unbounded, [1, 2, 3, 4]), (.bufferingOldest(2), [1, 2]),
            (.bufferingNewest(2), [3, 4]), (.bufferingNewest(0), []),
        ] {
            let (stream, buffer) = made(policy)
            for value in 1...4 { buffer.yield(value) }
            buffer.finish()
            let values = await all(stream)
            #expect(values == kept, "\(policy)")
        }
    }

    @Test func leavingTheLoopEndsTheStreamOnce() async {
        let ends = Atomic(0)
        let (stream, buffer) = made { _ = ends.add(1, ordering: .relaxed) }
        for value in 1...3 { buffer.yield(value) }
        for await value in stream where value == 2 { break }
        #expect(ends.load(ordering: .relaxed) == 1)
        buffer.yield(4)
        buffer.finish()
        let values = await all(stream)
        #expect(values.isEmpty)
        #expect(ends.load(ordering: .relaxed) == 1)
    }

    @Test func aStreamThatEndsByItselfWasNotLeft() async {
        let ends = Atomic(0)
        let (stream, buffer) = made { _ = ends.add(1, ordering: .relaxed) }
        buffer.yield(1)
        buffer.finish()
        _ = await all(stream)
        #expect(ends.load(ordering: .relaxed) == 0)
    }

    @Test func cancellingTheTaskEndsTheLoop() async {
        let ends = Calls<Void>()
        let (stream, buffer) = made { ends.add(()) }
        let taken = Calls<Int>()
        let task = Task {
            for await value in stream { taken.add(value) }
            return Task.isCancelled
        }
        buffer.yield(1)
        _ = await taken.first()
        task.cancel()
        let wasCancelled = await task.value
        #expect(wasCancelled)
        #expect(ends.all.count == 1)
    }

    /// A waiting piece counts against the window of its request until a consumer has taken it.
    @Test func aTokenIsReleasedWhenItsValueIsTakenOrDropped() async throws {
        let window = FlowWindow()
        let opened = Atomic(0)
        let (stream, buffer) = made()
        buffer.yield(1, token: window.admit(FlowWindow.high) { _ = opened.add(1, ordering: .relaxed) })
        #expect(!window.isOpen)
        var iterator = stream.makeAsyncIterator()
        _ = await iterator.next()
        #expect(window.isOpen)
        buffer.yield(2, token: window.admit(FlowWindow.high) { _ = opened.add(1, ordering: .relaxed) })
        #expect(!window.isOpen)
        buffer.terminate()
        #expect(window.isOpen)
        buffer.yield(3, token: window.admit(FlowWindow.high) { _ = opened.add(1, ordering: .relaxed) })
        #expect(window.isOpen)
        #expect(opened.load(ordering: .relaxed) == 3)
    }

    @Test func theWindowOpensAgainHalfWay() {
        let window = FlowWindow()
        let opened = Atomic(0)
        let admit = { (count: Int) in window.admit(count) { _ = opened.add(1, ordering: .relaxed) } }
        var tokens: [FlowToken?] = (0..<4).map { _ in admit(FlowWindow.high / 4) }
        #expect(!window.isOpen)
        tokens[0] = nil
        #expect(!window.isOpen)
        tokens[1] = nil
        #expect(window.isOpen)
        tokens[2] = nil
        tokens[3] = nil
        #expect(window.isOpen)
        #expect(opened.load(ordering: .relaxed) == 1)
    }

    // MARK: Of requests

    @Test func eachObserverOfARequestHasItsOwnStream() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 100_000))
            server.script("/x", [.status(503)])
            let retrier = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            let request = makeSession(starts: false, interceptor: retrier).request(server.url("/x")).validate()
            let streams = (request.urlRequests(), request.urlRequests())
            let (tasks, commands, heads) = (
                request.urlSessionTasks(), request.cURLDescriptions(), request.httpResponses()
            )
            let (uploads, downloads) = (request.uploadProgress(), request.downloadProgress())
            request.response(queue: testQueue) { _ in }.resume()
            var counts: [Int] = []
            for stream in [streams.0, streams.1] {
                var count = 0
                for await urlRequest in stream {
                    #expect(urlRequest.url?.path == "/x")
                    count += 1
                }
                counts.append(count)
            }
            #expect(counts == [2, 2])
            var numbers: [Int] = []
            for await task in tasks { numbers.append(task.taskIdentifier) }
            #expect(numbers == [1, 2])
            var texts: [String] = []
            for await command in commands { texts.append(command) }
            #expect(texts.count == 2)
            #expect(texts.allSatisfy { $0.hasPrefix("$ curl -v") })
            var statuses: [Int] = []
            for await head in heads { statuses.append(head.statusCode) }
            #expect(statuses == [503, 200])
            var last: Progress?
            for await progress in downloads { last = progress }
            #expect(last?.completedUnitCount == 100_000)
            #expect(last?.totalUnitCount == 100_000)
            for await progress in uploads { Issue.record("nothing was sent: \(progress)") }
        }
    }

    @Test func anEndedRequestsStreamsEndAtOnce() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x"))
            _ = await request.response()
            var requests = 0
            for await _ in request.urlRequests() { requests += 1 }
            var tasks = 0
            for await _ in request.urlSessionTasks() { tasks += 1 }
            #expect(requests == 1)
            #expect(tasks == 1)
            for await _ in request.httpResponses() { Issue.record("its head came before") }
        }
    }

    @Test(arguments: ["heads", "commands", "requests", "tasks", "progress"])
    func awaitingAStreamStartsTheRequest(kind: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x"))
            var count = 0
            switch kind {
            case "heads": for await head in request.httpResponses() { count += head.statusCode == 200 ? 1 : 0 }
            case "commands": for await text in request.cURLDescriptions() { count += text.contains("/x") ? 1 : 0 }
            case "requests": for await _ in request.urlRequests() { count += 1 }
            case "tasks": for await _ in request.urlSessionTasks() { count += 1 }
            default: for await progress in request.downloadProgress() { count = Int(progress.fractionCompleted) }
            }
            #expect(count == 1)
            #expect(request.isFinished)
            #expect(try await request.serializingString().value == "x")
            #expect(server.requests.count == 1)
        }
    }

    @Test func aStreamOfARequestThatIsStartedByHandWaitsForThat() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(starts: false).streamRequest(server.url("/x"))
            let heads = Task {
                var count = 0
                for await _ in request.httpResponses() { count += 1 }
                return count
            }
            await Task.yield()
            #expect(request.isInitialized)
            request.resume()
            await request.reaches(.finished)
            _ = await heads.value
        }
    }

    @Test func aStreamOfACancelledRequestEnds() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let request = makeSession().request(server.url("/x"))
            let stream = request.downloadProgress()
            request.response(queue: testQueue) { _ in }
            try await server.waitForHeld(1)
            request.cancel()
            for await progress in stream { #expect(progress.completedUnitCount == 0) }
            #expect(request.isCancelled)
        }
    }

    @Test func aStreamNeitherStartsNorStopsItsRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x"))
            do {
                let stream = request.urlRequests()
                #expect(request.isInitialized)
                _ = stream
            }
            async let response = request.response()
            for await _ in request.urlRequests() { break }
            let text = await response.data
            #expect(text == Data("x".utf8))
        }
    }
}
