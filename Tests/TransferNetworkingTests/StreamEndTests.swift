import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// A handler's decision about its stream takes effect in time. Each test repeats often enough to show a race.
@Suite("Ends of streams that handlers decide about", .timeLimit(.minutes(3)))
struct StreamEndTests {
    private static let rounds = 1000

    /// Returns the ends of many streams of one piece, whose handler calls `act`.
    private func ends(
        _ server: TestServer, cancelsOnStreamError: Bool = false,
        act: @escaping @Sendable (DataStreamRequest.Stream<Data, Never>) throws -> Void
    ) async -> [(DataStreamRequest.Completion, DataStreamRequest)] {
        let session = makeSession()
        var ends: [(DataStreamRequest.Completion, DataStreamRequest)] = []
        for _ in 0..<Self.rounds {
            let completions = Calls<DataStreamRequest.Completion>()
            let request = session.streamRequest(
                server.url("/x"), automaticallyCancelOnStreamError: cancelsOnStreamError)
            request.responseStream(on: testQueue) { stream in
                if let completion = stream.completion { return completions.add(completion) }
                try act(stream)
            }
            if let end = await completions.first() { ends.append((end, request)) }
        }
        return ends
    }

    @Test(arguments: [true, false])
    func aHandlerThatThrowsCancelsTheStreamWithItsError(automatically: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("piece"))
            let ends = await ends(server, cancelsOnStreamError: automatically) { _ in throw TestFailure() }
            #expect(ends.count == Self.rounds)
            #expect(ends.allSatisfy { $0.0.error?.underlyingError is TestFailure })
            #expect(ends.allSatisfy { $0.0.error?.isResponseSerializationError == true })
            #expect(ends.allSatisfy { $0.1.isCancelled })
        }
    }

    @Test(arguments: ["stream", "token", "request"])
    func aCancellationInsideAHandlerIsNeverOvertakenByTheEnd(by way: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("piece"))
            let ends = await ends(server) { stream in
                switch way {
                case "stream": stream.cancel()
                case "token": stream.token.cancel()
                default: stream.token.request?.cancel()
                }
            }
            #expect(ends.count == Self.rounds)
            #expect(ends.allSatisfy { $0.0.error?.isExplicitlyCancelledError == true })
            #expect(ends.allSatisfy { $0.1.isCancelled })
        }
    }

    @Test func aPieceThatCannotBeSerializedCancelsWhereAskedBeforeTheEnd() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("no json"))
            let session = makeSession()
            var cancelled = 0
            for _ in 0..<Self.rounds {
                let completions = Calls<DataStreamRequest.Completion>()
                session.streamRequest(server.url("/x"), automaticallyCancelOnStreamError: true)
                    .responseStreamDecodable(of: Greeting.self, on: testQueue) { stream in
                        if let completion = stream.completion { completions.add(completion) }
                    }
                if await completions.first()?.error?.isExplicitlyCancelledError == true { cancelled += 1 }
            }
            #expect(cancelled == Self.rounds)
        }
    }

    @Test func theEndComesAfterEveryPieceOnAConcurrentQueueToo() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 4, count: 300_000))
            let queue = DispatchQueue(label: "many", attributes: .concurrent)
            let session = makeSession()
            for _ in 0..<50 {
                let bytes = Mutex(0)
                let atEnd = Calls<Int>()
                session.streamRequest(server.url("/x")).responseStream(on: queue) { stream in
                    if let data = stream.value { bytes.withLock { $0 += data.count } }
                    if stream.completion != nil { atEnd.add(bytes.withLock { $0 }) }
                }
                let count = await atEnd.first()
                #expect(count == 300_000)
            }
        }
    }

    /// A request ends even if its input stream is not read.
    @Test func theEndDoesNotWaitForAnUnreadInputStream() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("piece"))
            let request = makeSession(starts: false).streamRequest(server.url("/x"))
            let input = request.asInputStream()
            let ends = Calls<Bool>()
            request.responseStream(on: testQueue) { if $0.completion != nil { ends.add(true) } }
            request.resume()
            let ended = await ends.first()
            #expect(ended == true)
            withExtendedLifetime(input) {}
        }
    }

    // MARK: Before the body

    @Test(arguments: [true, false])
    func aCancellationAtTheHeadDeliversNothingOfTheBodyOfAStream(byDisposition: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let session = makeSession()
            var (pieces, cancelled) = (0, 0)
            for _ in 0..<Self.rounds {
                let (seen, completions) = (Calls<Data>(), Calls<DataStreamRequest.Completion>())
                let request = session.streamRequest(server.url("/x"))
                request.onHTTPResponse(on: testQueue) { [weak request] _, decide in
                    if !byDisposition { request?.cancel() }
                    decide(byDisposition ? .cancel : .allow)
                }
                request.responseStream(on: testQueue) { stream in
                    if let data = stream.value { seen.add(data) }
                    if let completion = stream.completion { completions.add(completion) }
                }
                if await completions.first()?.error?.isExplicitlyCancelledError == true { cancelled += 1 }
                pieces += seen.all.count
            }
            #expect(pieces == 0)
            #expect(cancelled == Self.rounds)
        }
    }

    @Test(arguments: [true, false])
    func aCancellationAtTheHeadDeliversNothingOfTheBodyInMemory(byDisposition: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let session = makeSession()
            var (bodies, cancelled) = (0, 0)
            for _ in 0..<Self.rounds {
                let request = session.request(server.url("/x"))
                request.onHTTPResponse(on: testQueue) { [weak request] _, decide in
                    if !byDisposition { request?.cancel() }
                    decide(byDisposition ? .cancel : .allow)
                }
                let response = await request.serializingData().response
                if response.data != nil { bodies += 1 }
                if response.error?.isExplicitlyCancelledError == true { cancelled += 1 }
            }
            #expect(bodies == 0)
            #expect(cancelled == Self.rounds)
        }
    }

    // MARK: Without a body

    @Test func theDataOfAnAnswerWithoutABodyIsNil() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/none") { _ in Response(status: 204) }
            server.serve("/empty", .text(""))
            for path in ["/none", "/empty"] {
                let response = await makeSession().request(server.url(path)).response()
                #expect(response.response != nil)
                #expect(response.data == nil)
                #expect(response.value == .some(nil))
            }
        }
    }
}
