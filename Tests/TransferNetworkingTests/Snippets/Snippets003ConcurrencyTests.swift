import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// Document 003, from *Using Alamofire with Swift Concurrency* on. The numbers are its lines.
@Suite("Snippets of document 003 about concurrency", .timeLimit(.minutes(1)))
struct Snippets003ConcurrencyTests {
    struct TestResponse: Decodable { let url: String }

    // 983
    @Test func aValueIsAwaited() async throws {
        try await withHTTPBin { server async throws in
            let value = try await AF.request(server.url("/get")).serializingDecodable(TestResponse.self).value
            #expect(value.url == server.url("/get"))
        }
    }

    // 987
    @Test func aTaskIsAwaitedAsOftenAsNeeded() async throws {
        try await withHTTPBin { server async throws in
            let dataTask = AF.request(server.url("/get")).serializingDecodable(TestResponse.self)
            // Later...
            let response = await dataTask.response  // Returns full DataResponse<TestResponse, AFError>
            // Elsewhere...
            let result = await dataTask.result  // Returns Result<TestResponse, AFError>
            // And...
            let value = try await dataTask.value  // Returns the TestResponse or throws the AFError as an Error
            #expect(response.value?.url == server.url("/get"))
            #expect(try result.get().url == server.url("/get"))
            #expect(value.url == server.url("/get"))
            #expect(server.requests.count == 1)
        }
    }

    // 997
    @Test func aRequestIsSerializedInSeveralWays() async throws {
        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/get"))
            // Later...
            let stringResponse = await request.serializingString().response
            // Elsewhere...
            let decodableResponse = await request.serializingDecodable(TestResponse.self).response
            #expect(stringResponse.value?.contains(server.url("/get")) == true)
            #expect(decodableResponse.value?.url == server.url("/get"))
            #expect(server.requests.count == 1)
        }
    }

    // 1005
    @Test func requestsAreAwaitedTogether() async throws {
        try await withHTTPBin { server async throws in
            async let first = AF.request(server.url("/get?1")).serializingDecodable(TestResponse.self).response
            async let second = AF.request(server.url("/get?2")).serializingString().response
            async let third = AF.request(server.url("/get?3")).serializingData().response

            // Later...

            // Produces (DataResponse<TestResponse, AFError>, DataResponse<String, AFError>,
            // DataResponse<Data, AFError>) when all requests are complete.
            let responses = await (first, second, third)
            #expect(responses.0.value?.url == server.url("/get?1"))
            #expect(responses.1.value?.contains(server.url("/get?2")) == true)
            #expect(responses.2.value?.isEmpty == false)
        }
    }

    // 1021
    @Test func theFileOfADownloadIsAwaited() async throws {
        try await withHTTPBin { server async throws in
            let url = try await AF.download(server.url("/bytes/1000")).serializingDownloadedFileURL().value
            #expect(try Data(contentsOf: url) == Data(Content.random(seed: 0, count: 1000).bytes()))
        }
    }

    // 1027. Since 5.10 the request is cancelled with the task unless `automaticallyCancelling` is `false`: so here.
    @Test func aRequestContinuesAfterItsTaskIsCancelled() async throws {
        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/delay/10"))  // Creates the DataRequest.
            let task = Task {  // Produces a `Task<DataResponse<TestResponse, AFError>, Never> value.
                await request.serializingDecodable(TestResponse.self, automaticallyCancelling: false).response
            }

            // Later...
            try await server.waitForHeld(1)

            task.cancel()  // task is cancelled, but the DataRequest created inside it is not.
            #expect(task.isCancelled)
            #expect(!request.isCancelled)
            server.release()
            #expect(await task.value.value?.url == server.url("/delay/10"))
        }
    }

    // 1039
    @Test func aRequestIsCancelledWithItsTaskWhenAsked() async throws {
        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/delay/10"))  // Creates the DataRequest.
            let task = Task {  // Produces a `Task<DataResponse<TestResponse, AFError>, Never> value.
                await request.serializingDecodable(TestResponse.self, automaticallyCancelling: true).response
            }

            // Later...
            try await server.waitForHeld(1)

            task.cancel()  // task is cancelled.
            #expect(task.isCancelled)
            #expect(await task.value.error?.isExplicitlyCancelledError == true)
            #expect(request.isCancelled)
        }
    }

    // 1055; `dataStreamRequest` there is `streamRequest`.
    @Test func aStreamIsAnAsyncSequence() async throws {
        try await withHTTPBin { server async throws in
            let streamTask = AF.streamRequest(server.url("/stream-bytes/300000")).streamTask()

            // Later...

            var received = Data()
            var completions = 0
            for await data in streamTask.streamingData() {
                // Streams Stream<Data, Never> values. a.k.a StreamOf<DataStreamRequest.Stream<Data, Never>>
                switch data.event {
                case .stream(.success(let piece)): received += piece
                case .complete(let completion):
                    completions += 1
                    #expect(completion.error == nil)
                }
            }
            #expect(received == Data(Content.random(seed: 0, count: 300_000).bytes()))
            #expect(completions == 1)
        }
    }

    // 1062
    @Test func leavingAStreamEarlyCancelsItsRequest() async throws {
        try await withHTTPBin { server async throws in
            server.script("/stream-bytes/300000", [.stall(after: 100)])
            let cancelled = Calls<Bool>()
            let request = AF.streamRequest(server.url("/stream-bytes/300000"))
            let stream = request.streamTask().streamingData()
            request.responseStream { stream in
                guard case .complete(let completion) = stream.event else { return }
                cancelled.add(completion.error?.isExplicitlyCancelledError == true)
            }
            for await _ in stream {
                break
            }
            #expect(await cancelled.first() == true)
            #expect(request.isCancelled)
        }
    }

    // 1064
    @Test func anAbandonedStreamContinuesOnRequest() async throws {
        try await withHTTPBin { server async throws in
            let ended = Calls<Bool>()
            let count = Calls<Int>()
            let request = AF.streamRequest(server.url("/stream-bytes/300000"))
            request.responseStream { stream in
                switch stream.event {
                case .stream(.success(let data)): count.add(data.count)
                case .complete(let completion): ended.add(completion.error == nil)
                }
            }
            let streamTask = request.streamTask()

            // Later...

            let condition = true
            for await _ in streamTask.streamingData(automaticallyCancelling: false) {
                if condition { break }  // Stream ends but underlying `DataStreamRequest` is not cancelled.
            }
            #expect(await ended.first() == true)
            #expect(count.all.reduce(0, +) == 300_000)
            #expect(!request.isCancelled)
        }
    }

    // 1078
    @Test func curlCommandsAreAStream() async throws {
        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/get"))
            request.response { _ in }

            // Later...

            var descriptions: [String] = []
            for await description in request.cURLDescriptions() {
                descriptions.append(description)
            }
            #expect(descriptions.count == 1)
            #expect(descriptions.first?.hasPrefix("$ curl -v") == true)
            #expect(descriptions.first?.hasSuffix("\"\(server.url("/get"))\"") == true)
        }
    }
}
