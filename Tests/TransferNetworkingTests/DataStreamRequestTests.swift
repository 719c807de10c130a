import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Answers delivered in pieces", .timeLimit(.minutes(1)))
struct DataStreamRequestTests {
    /// Records all events that a handler receives.
    private final class Log<Value: Sendable>: Sendable {
        let pieces = Calls<Value>()
        let failures = Calls<any Error>()
        let ends = Calls<DataStreamRequest.Completion>()

        func note<Failure: Error>(_ stream: DataStreamRequest.Stream<Value, Failure>) {
            switch stream.event {
            case .stream(.success(let value)): pieces.add(value)
            case .stream(.failure(let error)): failures.add(error)
            case .complete(let completion): ends.add(completion)
            }
        }
    }

    @Test func everyByteComesInOrderAndThenTheEnd() async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 9, count: 700_000)
            server.serve("/x", body)
            let log = Log<Data>()
            makeSession().streamRequest(server.url("/x")).responseStream(on: testQueue) { log.note($0) }
            let end = try #require(await log.ends.first())
            #expect(log.pieces.all.reduce(Data(), +) == Data(body.bytes()))
            #expect(log.pieces.all.count > 1)
            #expect(end.error == nil)
            #expect(end.request?.url?.absoluteString == server.url("/x"))
            #expect(end.response?.statusCode == 200)
            #expect(end.metrics?.transactionMetrics.last?.countOfResponseBodyBytesReceived == 700_000)
            #expect(log.ends.all.count == 1)
        }
    }

    @Test func piecesComeWhileTheAnswerIsUnderWay() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("firstsecond"))
            server.script("/x", [.stall(after: 5)])
            let log = Log<String>()
            makeSession().streamRequest(server.url("/x")).responseStreamString(on: testQueue) { log.note($0) }
            let first = await log.pieces.first()
            #expect(first == "first")
            #expect(log.ends.all.isEmpty)
            try await server.waitForHeld(1)
            server.release()
            _ = await log.ends.first()
            #expect(log.pieces.all == ["first", "second"])
        }
    }

    @Test func anAnswerWithoutABodyIsOnlyAnEnd() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/x") { _ in Response(status: 204) }
            let log = Log<Data>()
            makeSession().streamRequest(server.url("/x")).responseStream(on: testQueue) { log.note($0) }
            let end = await log.ends.first()
            #expect(end?.response?.statusCode == 204)
            #expect(end?.error == nil)
            #expect(log.pieces.all.isEmpty)
        }
    }

    @Test func eachHandlerReceivesEveryEventOnItsQueue() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"hi"}"#))
            let key = DispatchSpecificKey<Bool>()
            let queue = DispatchQueue(label: "handlers")
            queue.setSpecific(key: key, value: true)
            let (data, text, greeting, places) = (Log<Data>(), Log<String>(), Log<Greeting>(), Calls<Bool>())
            let request = makeSession(starts: false).streamRequest(server.url("/x"))
            request.responseStream(on: queue) { stream in
                places.add(DispatchQueue.getSpecific(key: key) == true)
                data.note(stream)
            }
            request.responseStreamString(on: queue) { stream in
                places.add(DispatchQueue.getSpecific(key: key) == true)
                text.note(stream)
            }
            request.responseStreamDecodable(of: Greeting.self, on: queue) { stream in
                places.add(DispatchQueue.getSpecific(key: key) == true)
                greeting.note(stream)
            }
            request.resume()
            let ended = [await data.ends.first(), await text.ends.first(), await greeting.ends.first()]
            #expect(ended.allSatisfy { $0 != nil && $0?.error == nil })
            #expect(data.pieces.all == [Data(#"{"text":"hi"}"#.utf8)])
            #expect(text.pieces.all == [#"{"text":"hi"}"#])
            #expect(greeting.pieces.all == [Greeting(text: "hi")])
            #expect(places.all == Array(repeating: true, count: 6))
            #expect(server.requests.count == 1)
        }
    }

    @Test func piecesAreSerializedInOrderOnAConcurrentQueueToo() async throws {
        struct Counting: DataStreamSerializer {
            let seen = Calls<Int>()
            func serialize(_ data: Data) throws -> Int {
                seen.add(data.count)
                return seen.all.reduce(0, +)
            }
        }
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 9, count: 2_000_000))
            var settings = SessionSettings()
            settings.loops = 1
            settings.serializationQueue = DispatchQueue(label: "many", attributes: .concurrent)
            let log = Log<Int>()
            Session(settings).streamRequest(server.url("/x"))
                .responseStream(using: Counting(), on: testQueue) { log.note($0) }
            _ = await log.ends.first()
            #expect(log.pieces.all == log.pieces.all.sorted())
            #expect(log.pieces.all.last == 2_000_000)
        }
    }

    // MARK: Validation

    @Test func anAnswerIsValidatedWhenItHasEnded() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(404, body: .text("gone")))
            let log = Log<String>()
            makeSession().streamRequest(server.url("/x")).validate()
                .responseStreamString(on: testQueue) { log.note($0) }
            let end = await log.ends.first()
            #expect(end?.error?.responseCode == 404)
            #expect(log.pieces.all.joined() == "gone")
        }
    }

    @Test func aRuleOfOnesOwnSeesTheRequestAndTheHead() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let log = Log<String>()
            makeSession().streamRequest(server.url("/x"))
                .validate { request, response in
                    request?.url?.path == "/x" && response.statusCode == 200
                        ? .failure(TestFailure()) : .success(())
                }
                .responseStreamString(on: testQueue) { log.note($0) }
            let end = await log.ends.first()
            #expect(end?.error?.underlyingError as? TestFailure == TestFailure())
        }
    }

    @Test func aRefusedAnswerIsRetriedAndItsSuccessorStreamed() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("good"))
            server.script("/x", [.status(503)])
            let log = Log<String>()
            let retrier = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            makeSession(interceptor: retrier).streamRequest(server.url("/x")).validate()
                .responseStreamString(on: testQueue) { log.note($0) }
            let end = await log.ends.first()
            #expect(end?.error == nil)
            #expect(log.pieces.all == ["good"])
            #expect(log.ends.all.count == 1)
        }
    }

    // MARK: Errors

    @Test func aConnectionThatIsCutEndsTheStreamWithItsError() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.cut(after: 1000)])
            let log = Log<Data>()
            makeSession().streamRequest(server.url("/x")).responseStream(on: testQueue) { log.note($0) }
            let end = await log.ends.first()
            #expect(URLError.code(of: end?.error) == .networkConnectionLost)
            #expect(log.pieces.all.map(\.count).reduce(0, +) == 1000)
        }
    }

    // MARK: Cancelling

    @Test func aHandlerCancelsByItsStreamOrItsToken() async throws {
        for byToken in [true, false] {
            try await withTestServer { server async throws in
                server.serve("/x", .text("firstsecond"))
                server.script("/x", [.stall(after: 5)])
                let log = Log<Data>()
                let request = makeSession().streamRequest(server.url("/x"))
                request.responseStream(on: testQueue) { stream in
                    log.note(stream)
                    guard case .stream = stream.event else { return }
                    if byToken { stream.token.cancel() } else { stream.cancel() }
                }
                let end = await log.ends.first()
                #expect(end?.error?.isExplicitlyCancelledError == true)
                #expect(log.pieces.all == [Data("first".utf8)])
                #expect(request.isCancelled)
            }
        }
    }

    @Test func aTokenHoldsNothing() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let tokens = Calls<DataStreamRequest.CancellationToken>()
            weak var gone: DataStreamRequest?
            do {
                let request = makeSession().streamRequest(server.url("/x"))
                gone = request
                request.responseStream(on: testQueue) { stream in
                    if case .complete = stream.event { tokens.add(stream.token) }
                }
            }
            let token = try #require(await tokens.first())
            let limit = ContinuousClock.now + .seconds(5)
            while gone != nil, .now < limit { await Task.yield() }
            #expect(gone == nil)
            token.cancel()
        }
    }

    @Test func aSuspendedStreamDeliversNothingUntilItResumes() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 300_000))
            server.script("/x", [.stall(after: 1000)])
            let log = Log<Data>()
            let request = makeSession().streamRequest(server.url("/x"))
            request.responseStream(on: testQueue) { log.note($0) }
            _ = await log.pieces.first()
            try await server.waitForHeld(1)
            request.suspend()
            server.release()
            // The round trip of another request over the same loop leaves time for any late data.
            server.serve("/other", .text("other"))
            _ = await request.session.request(server.url("/other")).response()
            await testQueue.passed()
            #expect(log.pieces.all.map(\.count).reduce(0, +) == 1000)
            request.resume()
            let end = await log.ends.first()
            #expect(end?.error == nil)
            #expect(log.pieces.all.map(\.count).reduce(0, +) == 300_000)
        }
    }

    // MARK: As a stream to read from

    @Test func anInputStreamGivesEveryByteAndItsEnd() async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 3, count: 400_000)
            server.serve("/x", body)
            let bytes = try await read(makeSession().streamRequest(server.url("/x")))
            #expect(bytes.data == Data(body.bytes()))
            #expect(bytes.last == 0)
            #expect(bytes.status == .atEnd)
            #expect(bytes.failure == nil)
        }
    }

    @Test func anInputStreamThatFailsSaysSo() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.cut(after: 1000)])
            let bytes = try await read(makeSession().streamRequest(server.url("/x")))
            #expect(bytes.data.count == 1000)
            #expect(bytes.last == -1)
            #expect(bytes.status == .error)
            #expect((bytes.failure as? AFError)?.isSessionTaskError == true)
        }
    }

    @Test func aReadThatWaitsIsEndedByACancellation() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.stall(after: 1000)])
            let request = makeSession().streamRequest(server.url("/x"))
            async let bytes = read(request)
            try await server.waitForHeld(1)
            request.cancel()
            let result = try await bytes
            #expect(result.last == -1)
            #expect((result.failure as? AFError)?.isExplicitlyCancelledError == true)
        }
    }

    /// An unread stream must not prevent its request from ending.
    @Test func aDroppedInputStreamDoesNotHoldTheRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 4_000_000))
            let request = makeSession(starts: false).streamRequest(server.url("/x"))
            _ = request.asInputStream()
            let log = Log<Data>()
            request.responseStream(on: testQueue) { log.note($0) }
            // The request starts only now, so that both streams receive every byte.
            request.resume()
            let end = await log.ends.first()
            #expect(end?.error == nil)
            #expect(log.pieces.all.map(\.count).reduce(0, +) == 4_000_000)
        }
    }

    private struct Bytes: @unchecked Sendable {  // Made on one thread, then read on another.
        var data = Data()
        var last = 0
        var status = Stream.Status.notOpen
        var failure: (any Error)?
    }

    /// Reads to the end, on a thread of its own: reads block.
    private func read(_ request: DataStreamRequest) async throws -> Bytes {
        await withCheckedContinuation { continuation in
            Thread {
                var bytes = Bytes()
                var buffer = [UInt8](repeating: 0, count: 10_000)
                if let stream = request.asInputStream() {
                    stream.open()
                    repeat {
                        bytes.last = stream.read(&buffer, maxLength: buffer.count)
                        if bytes.last > 0 { bytes.data.append(contentsOf: buffer[..<bytes.last]) }
                    } while bytes.last > 0
                    (bytes.status, bytes.failure) = (stream.streamStatus, stream.streamError)
                    stream.close()
                }
                continuation.resume(returning: bytes)
            }.start()
        }
    }
}
