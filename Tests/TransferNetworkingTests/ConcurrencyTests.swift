import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Awaiting requests", .timeLimit(.minutes(1)))
struct ConcurrencyTests {
    // MARK: Data

    @Test func aTaskGivesTheSameAsOftenAsItIsAwaited() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"hi"}"#))
            let task = makeSession().request(server.url("/x")).serializingDecodable(Greeting.self)
            async let first = task.value
            async let second = task.response
            let (value, response) = (try await first, await second)
            let result = try await task.result.get()
            #expect(value == Greeting(text: "hi"))
            #expect(response.value == value)
            #expect(result == value)
            #expect(response.response?.statusCode == 200)
            #expect(response.metrics != nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aFailureIsThrownByTheValueAndKeptByTheResponse() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(500, body: .text("broken")))
            let task = makeSession().request(server.url("/x")).validate().serializingString()
            let error = await #expect(throws: AFError.self) { try await task.value }
            #expect(error?.responseCode == 500)
            let response = await task.response
            #expect(response.data == Data("broken".utf8))
            #expect(response.error?.responseCode == 500)
        }
    }

    @Test func manyFormsOfOneAnswerTakeOneRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"hi"}"#))
            let request = makeSession().request(server.url("/x"))
            let data = request.serializingData()
            let text = request.serializingString()
            let greeting = request.serializingDecodable(Greeting.self)
            let response = request.serializingResponse(using: .data)
            let values = (try await data.value, try await text.value, try await greeting.value)
            let again = try await response.value
            #expect(values.0 == Data(values.1.utf8))
            #expect(values.2.text == "hi")
            #expect(again == values.0)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aTaskSuspendsResumesAndCancelsItsRequest() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let request = makeSession().request(server.url("/x"))
            let task = request.serializingString()
            try await server.waitForHeld(1)
            task.suspend()
            #expect(request.isSuspended)
            task.resume()
            #expect(request.isResumed)
            task.cancel()
            let error = await task.response.error
            #expect(error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(arguments: [true, false])
    func aTaskThatWasCancelledBeforeItAwaitsCancelsOnlyWhereAsked(automatically: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.holdHead])
            let request = makeSession().request(server.url("/x"))
            let task = Task {
                // The task is cancelled by now, as described below.
                while !Task.isCancelled { await Task.yield() }
                return await request.serializingString(automaticallyCancelling: automatically).response
            }
            task.cancel()
            if automatically {
                let response = await task.value
                #expect(response.error?.isExplicitlyCancelledError == true)
            } else {
                try await server.waitForHeld(1)
                server.release()
                let response = await task.value
                #expect(response.value == "x")
            }
        }
    }

    @Test func cancellingTheAwaitingTaskCancelsTheRequestByDefault() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .holdHead)
            let session = makeSession()
            let request = session.request(server.url("/x"))
            let awaiting = Task { await request.serializingDecodable(Greeting.self).response }
            let download = session.download(server.url("/x"))
            let file = Task { await download.serializingData().response }
            try await server.waitForHeld(2)
            awaiting.cancel()
            file.cancel()
            let (response, downloaded) = (await awaiting.value, await file.value)
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(downloaded.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func cancellingATaskResumesItsWaiters() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let task = makeSession().request(server.url("/x")).serializingString(automaticallyCancelling: true)
            let waiters = (0..<3).map { _ in Task { await task.response } }
            try await server.waitForHeld(1)
            waiters[1].cancel()
            for waiter in waiters {
                let response = await waiter.value
                #expect(response.error?.isExplicitlyCancelledError == true)
            }
        }
    }

    @Test func anUploadIsAwaitedLikeAnyOther() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in", answer: Response(status: 201, body: .text("thanks")))
            let text = try await makeSession().upload(Data("x".utf8), to: server.url("/in")).serializingString().value
            #expect(text == "thanks")
        }
    }

    // MARK: Downloads

    @Test func aDownloadGivesItsFileOrItsContent() async throws {
        let folder = try TemporaryFolder("await")
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"hi"}"#))
            let request = makeSession(folder).download(server.url("/x"))
            let file = request.serializingDownloadedFileURL()
            let data = request.serializingData()
            let text = request.serializingString()
            let greeting = request.serializingDecodable(Greeting.self)
            let raw = request.serializingDownload(using: .data)
            let url = try await file.value
            let bytes = try Data(contentsOf: url)
            let values = (try await data.value, try await text.value, try await greeting.value, try await raw.value)
            #expect(bytes == values.0 && bytes == values.3)
            #expect(values.1 == #"{"text":"hi"}"#)
            #expect(values.2 == Greeting(text: "hi"))
            #expect(server.requests.count == 1)
            let response = await file.response
            #expect(response.fileURL == url)
        }
    }

    @Test func cancellingTheTaskCancelsADownloadWhereAsked() async throws {
        let folder = try TemporaryFolder("await")
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 100_000))
            server.script("/x", [.stall(after: 1000)])
            let request = makeSession(folder).download(server.url("/x"))
            let task = Task { await request.serializingDownloadedFileURL(automaticallyCancelling: true).response }
            try await server.waitForHeld(1)
            task.cancel()
            let response = await task.value
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(response.resumeData == nil)
        }
    }

    // MARK: Streams

    @Test func aStreamIsAwaitedPieceByPieceToItsEnd() async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 4, count: 300_000)
            server.serve("/x", body)
            let task = makeSession().streamRequest(server.url("/x")).streamTask()
            var received = Data()
            var completions: [DataStreamRequest.Completion] = []
            for await stream in task.streamingData() {
                switch stream.event {
                case .stream(.success(let piece)): received.append(piece)
                case .complete(let completion): completions.append(completion)
                }
            }
            #expect(received == Data(body.bytes()))
            #expect(completions.count == 1)
            #expect(completions.first?.error == nil)
            #expect(completions.first?.response?.statusCode == 200)
            #expect(completions.first?.metrics != nil)
        }
    }

    @Test func severalStreamsOfOneRequestAllHaveEverything() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text(#"{"text":"hi"}"#))
            let request = makeSession(starts: false).streamRequest(server.url("/x"))
            let task = request.streamTask()
            let (texts, greetings) = (task.streamingStrings(), task.streamingDecodables(Greeting.self))
            request.resume()
            var text = ""
            for await stream in texts { if case .stream(.success(let piece)) = stream.event { text += piece } }
            var values: [Greeting] = []
            for await stream in greetings {
                if case .stream(let result) = stream.event { values.append(try result.get()) }
            }
            #expect(text == #"{"text":"hi"}"#)
            #expect(values == [Greeting(text: "hi")])
        }
    }

    @Test(arguments: [true, false])
    func leavingTheLoopCancelsTheRequestByDefault(cancels: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.stall(after: 1000)])
            let request = makeSession().streamRequest(server.url("/x"))
            for await _ in request.streamTask().streamingData(automaticallyCancelling: cancels) { break }
            #expect(request.isCancelled == cancels)
            if !cancels {
                try await server.waitForHeld(1)
                server.release()
            }
            let ends = Calls<AFError?>()
            request.responseStream(on: testQueue) { stream in
                if case .complete(let completion) = stream.event { ends.add(completion.error) }
            }
            let error = try #require(await ends.first())
            let wasCancelled = error?.isExplicitlyCancelledError ?? false
            #expect(wasCancelled == cancels)
        }
    }

    @Test func cancellingTheTaskThatAwaitsCancelsTheStream() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.stall(after: 1000)])
            let request = makeSession().streamRequest(server.url("/x"))
            let taken = Calls<Void>()
            let task = Task { for await _ in request.streamTask().streamingData() { taken.add(()) } }
            _ = await taken.first()
            task.cancel()
            await task.value
            #expect(request.isCancelled)
            try await server.waitForConnections(closed: 1)
        }
    }

    /// Data that no caller awaits is not fetched.
    @Test func aSlowLoopSlowsTheServerDown() async throws {
        try await withTestServer { server async throws in
            let length: Int64 = 64 << 20
            server.serve("/x", .random(seed: 1, count: length))
            let request = makeSession().streamRequest(server.url("/x"))
            var iterator = request.streamTask().streamingData().makeAsyncIterator()
            _ = await iterator.next()
            // Waits until no more bytes are sent: the same count is read many times.
            var (last, times) = (Int64(0), 0)
            let limit = ContinuousClock.now + .seconds(10)
            while times < 2000, .now < limit {
                let sent = server.bytesSent("/x")
                (last, times) = (sent, sent == last ? times + 1 : 0)
                await Task.yield()
            }
            #expect(last < length / 2)
            var received: Int64 = 0
            while let stream = await iterator.next() {
                if case .stream(.success(let piece)) = stream.event { received += Int64(piece.count) }
            }
            #expect(server.bytesSent("/x") == length)
            #expect(received > length - (1 << 20))
        }
    }

    enum Kind: CaseIterable { case data, strings, decodables, responses }

    @Test(arguments: Kind.allCases)
    func aStreamThatIsOverIsFreed(kind: Kind) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("{}"))
            let session = makeSession()
            weak var gone: DataStreamRequest?
            do {
                let request = session.streamRequest(server.url("/x"))
                gone = request
                let task = request.streamTask()
                switch kind {
                case .data: for await _ in task.streamingData() {}
                case .strings: for await _ in task.streamingStrings() {}
                case .decodables: for await _ in task.streamingDecodables(Greeting.self) {}
                case .responses: for await _ in task.streamingResponses(serializedUsing: .string) {}
                }
            }
            let limit = ContinuousClock.now + .seconds(5)
            while gone != nil, .now < limit { await Task.yield() }
            #expect(gone == nil)
        }
    }

    @Test(arguments: [true, false])
    func aPieceThatCannotBeDecodedEndsTheRequestOnlyWhereAsked(cancels: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("no JSON"))
            server.script("/x", [.stall(after: 3)])
            let recorder = EventRecorder()
            let session = recorder.session()
            let request = session.streamRequest(server.url("/x"), automaticallyCancelOnStreamError: cancels)
            var (failures, completion): (Int, DataStreamRequest.Completion?) = (0, nil)
            for await stream in request.streamTask().streamingDecodables(Greeting.self) {
                switch stream.event {
                case .stream(.failure(let error)):
                    #expect(error.isResponseSerializationError)
                    failures += 1
                    if !cancels, failures == 1 {
                        try await server.waitForHeld(1)
                        server.release()
                    }
                case .stream(.success): Issue.record("decoded")
                case .complete(let end): completion = end
                }
            }
            #expect(failures >= 1)
            let error = try #require(completion).error
            let wasCancelled = error?.isExplicitlyCancelledError ?? false
            #expect(wasCancelled == cancels)
            await recorder.queue.passed()
            #expect(recorder.all("didParseStream Greeting").map(\.detail).contains("failure"))
        }
    }
}
