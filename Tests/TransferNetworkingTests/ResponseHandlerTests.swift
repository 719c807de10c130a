import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Requests data from which every form can be made, repeatedly.
@Suite("Response handlers")
struct ResponseHandlerTests {
    private let folder: TemporaryFolder
    private let session: Session

    init() throws {
        folder = try TemporaryFolder("handlers")
        session = makeSession(folder)
    }

    // MARK: Every form

    @Test func aDataRequestHasEveryForm() async throws {
        try await ResponseForms.withServer { server in
            let request = session.request(server.url("/json"))
            #expect(
                await handed { request.response(queue: testQueue, completionHandler: $0) }.value
                    == Data(ResponseForms.json.utf8)
            )
            #expect(
                await handed { request.responseData(queue: testQueue, completionHandler: $0) }.value
                    == Data(ResponseForms.json.utf8))
            #expect(
                await handed { request.responseString(queue: testQueue, completionHandler: $0) }.value
                    == ResponseForms.json)
            let json = await handed { request.responseJSON(queue: testQueue, completionHandler: $0) }
            #expect(json.value as? [String: String] == ["text": "hé"])
            let greeting = await handed {
                request.responseDecodable(of: Greeting.self, queue: testQueue, completionHandler: $0)
            }
            #expect(greeting.value == Greeting(text: "hé"))
            let list = session.request(server.url("/list"))
            let value = await handed { list.responsePropertyList(queue: testQueue, completionHandler: $0) }.value
            #expect(value as? [String: String] == ["text": "hi"])
            // The answer is parsed again for each form, and not requested again.
            #expect(server.requests(to: "/json").count == 1)
        }
    }

    @Test func aDownloadHasEveryForm() async throws {
        try await ResponseForms.withServer { server in
            let request = session.download(server.url("/json"))
            let plain = await handed { request.response(queue: testQueue, completionHandler: $0) }
            let url = try #require(plain.value.flatMap { $0 })
            #expect(try String(contentsOf: url, encoding: .utf8) == ResponseForms.json)
            #expect(plain.fileURL == url)
            #expect(await handed { request.responseURL(queue: testQueue, completionHandler: $0) }.value == url)
            #expect(
                await handed { request.responseData(queue: testQueue, completionHandler: $0) }.value
                    == Data(ResponseForms.json.utf8))
            #expect(
                await handed { request.responseString(queue: testQueue, completionHandler: $0) }.value
                    == ResponseForms.json)
            let json = await handed { request.responseJSON(queue: testQueue, completionHandler: $0) }
            #expect(json.value as? [String: String] == ["text": "hé"])
            let greeting = await handed {
                request.responseDecodable(of: Greeting.self, queue: testQueue, completionHandler: $0)
            }
            #expect(greeting.value == Greeting(text: "hé"))
            let list = session.download(server.url("/list"))
            let value = await handed { list.responsePropertyList(queue: testQueue, completionHandler: $0) }.value
            #expect(value as? [String: String] == ["text": "hi"])
            #expect(server.requests(to: "/json").count == 1)
        }
    }

    @Test func anUploadHasTheFormsOfADataRequest() async throws {
        try await ResponseForms.withServer { server in
            server.handle("POST", "/echo") { Response(body: .bytes($0.body)) }
            let request = session.upload(Data(ResponseForms.json.utf8), to: server.url("/echo"))
            let greeting = await handed {
                request.responseDecodable(of: Greeting.self, queue: testQueue, completionHandler: $0)
            }
            #expect(greeting.value == Greeting(text: "hé"))
        }
    }

    @Test func chainedHandlersHaveTheirOwnFormEachInTheirOrder() async throws {
        try await ResponseForms.withServer { server in
            let calls = Calls<String>()
            session.request(server.url("/json"))
                .responseString(queue: testQueue) { calls.add("string \($0.value == ResponseForms.json)") }
                .responseDecodable(of: [Int].self, queue: testQueue) { calls.add("ints \($0.value == nil)") }
                .responseJSON(queue: testQueue) { calls.add("json \($0.value is [String: Any])") }
                .responseData(queue: testQueue) {
                    calls.add("data \($0.value?.count == ResponseForms.json.utf8.count)")
                }
            #expect(await calls.first { $0.hasPrefix("data") } != nil)
            #expect(calls.all == ["string true", "ints true", "json true", "data true"])
            #expect(server.requests.count == 1)
        }
    }

    @Test func serializersHaveShortNames() async throws {
        try await ResponseForms.withServer { server in
            let data = session.request(server.url("/json"))
            let file = session.download(server.url("/json"))
            let bytes = Data(ResponseForms.json.utf8)
            let greeting = Greeting(text: "hé")
            let expected = ["text": "hé"]
            #expect(
                await handed { data.response(queue: testQueue, responseSerializer: .data, completionHandler: $0) }.value
                    == bytes)
            #expect(
                await handed { file.response(queue: testQueue, responseSerializer: .data, completionHandler: $0) }.value
                    == bytes)
            let latin1 = await handed {
                data.response(
                    queue: testQueue, responseSerializer: .string(encoding: .isoLatin1), completionHandler: $0)
            }
            #expect(latin1.value == #"{"text":"hÃ©"}"#)
            let text = await handed {
                file.response(queue: testQueue, responseSerializer: .string, completionHandler: $0)
            }
            #expect(text.value == ResponseForms.json)
            let json = await handed {
                data.response(queue: testQueue, responseSerializer: .json, completionHandler: $0)
            }
            #expect(json.value as? [String: String] == expected)
            let decoded = await handed {
                data.response(
                    queue: testQueue, responseSerializer: .decodable(of: Greeting.self), completionHandler: $0)
            }
            #expect(decoded.value == greeting)
            let decodedFile = await handed {
                file.response(
                    queue: testQueue, responseSerializer: .decodable(of: Greeting.self), completionHandler: $0)
            }
            #expect(decodedFile.value == greeting)
            let url = await handed {
                file.response(queue: testQueue, responseSerializer: .url, completionHandler: $0)
            }
            #expect(url.value == file.fileURL)
            let list = session.request(server.url("/list"))
            let value = await handed {
                list.response(queue: testQueue, responseSerializer: .propertyList, completionHandler: $0)
            }
            #expect(value.value as? [String: String] == ["text": "hi"])
        }
    }

    @Test func aHandlerMayBeDeclaredForAny() async throws {
        try await ResponseForms.withServer { server in
            let texts = Calls<String?>()
            let handler: @Sendable (AFDataResponse<Any>) -> Void = { response in
                texts.add((response.value as? [String: Any])?["text"] as? String)
            }
            session.request(server.url("/json")).responseJSON(queue: testQueue, completionHandler: handler)
            #expect(await texts.first() == "hé")
            session.request(server.url("/list"))
                .responsePropertyList(queue: testQueue) { (response: AFDataResponse<Any>) in handler(response) }
            #expect(await texts.first() == "hi")
            session.download(server.url("/json"))
                .responseJSON(queue: testQueue) { (response: AFDownloadResponse<Any>) in
                    texts.add((response.value as? [String: Any])?["text"] as? String)
                }
            #expect(await texts.first() == "hé")
        }
    }

    // MARK: Queues

    @Test func handlersAreCalledOnTheMainQueueUnlessAnotherIsNamed() async throws {
        try await ResponseForms.withServer { server in
            let key = DispatchSpecificKey<Int>()
            let queue = DispatchQueue(label: "mine")
            queue.setSpecific(key: key, value: 7)
            let data = session.request(server.url("/json"))
            let file = session.download(server.url("/json"))
            // The key identifies the main queue, whichever thread serves it.
            let mainKey = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: mainKey, value: true)
            let main = Calls<Bool?>()
            data.responseData { _ in main.add(DispatchQueue.getSpecific(key: mainKey)) }
            file.responseURL { _ in main.add(DispatchQueue.getSpecific(key: mainKey)) }
            let mine = Calls<Int?>()
            data.responseString(queue: queue) { _ in mine.add(DispatchQueue.getSpecific(key: key)) }
            file.responseDecodable(of: Greeting.self, queue: queue) { _ in
                mine.add(DispatchQueue.getSpecific(key: key))
            }
            for _ in 0..<2 {
                #expect(await main.first() == true)
                #expect(await mine.first() == 7)
            }
        }
    }

    @Test func serializersAreNotRunOnTheHandlersQueue() async throws {
        struct Asking: ResponseSerializer {
            let isOnQueue: @Sendable () -> Bool
            func serialize(
                request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
            ) throws -> Bool { isOnQueue() }
        }
        try await ResponseForms.withServer { server in
            let key = DispatchSpecificKey<Int>()
            let queue = DispatchQueue(label: "mine")
            queue.setSpecific(key: key, value: 7)
            let serializer = Asking { DispatchQueue.getSpecific(key: key) != nil }
            let data = session.request(server.url("/json"))
            let file = session.download(server.url("/json"))
            let inData = await handed {
                data.response(queue: queue, responseSerializer: serializer, completionHandler: $0)
            }
            #expect(inData.value == false)
            let inFile = await handed {
                file.response(queue: queue, responseSerializer: serializer, completionHandler: $0)
            }
            #expect(inFile.value == false)
        }
    }

    // MARK: What a response has

    @Test func aResponseHasTheKnownPartsOfTheRequest() async throws {
        try await ResponseForms.withServer { server in
            let data = await session.request(server.url("/json"), headers: ["X-Mine": "1"])
                .serializingString().response
            #expect(data.request?.headers["X-Mine"] == "1")
            #expect(data.response?.statusCode == 200)
            #expect(data.data == Data(ResponseForms.json.utf8))
            #expect(data.metrics?.transactionMetrics.count == 1)
            #expect((data.metrics?.taskInterval.duration ?? 0) > 0)
            #expect(data.serializationDuration > 0 && data.serializationDuration < 60)
            let file = await session.download(server.url("/json")).serializingString().response
            #expect(file.response?.statusCode == 200)
            #expect(file.fileURL != nil)
            #expect(file.resumeData == nil)
            #expect(file.metrics?.transactionMetrics.count == 1)
            #expect(file.serializationDuration > 0 && file.serializationDuration < 60)
        }
    }

    @Test func aRequestThatNeverReachedTheNetworkHasNoMetrics() async throws {
        let response = await session.request("http://[broken").serializingData().response
        #expect(response.error?.isInvalidURLError == true)
        #expect(response.request == nil && response.response == nil && response.data == nil)
        #expect(response.metrics == nil)
    }

    @Test func theRequestsFailureReachesEveryForm() async throws {
        try await ResponseForms.withServer { server in
            server.script("/no", [], afterwards: .status(418, body: .text(ResponseForms.json)))
            let data = session.request(server.url("/no")).validate()
            #expect(await handed { data.response(queue: testQueue, completionHandler: $0) }.error?.responseCode == 418)
            #expect(await data.serializingData().response.error?.responseCode == 418)
            let json = await handed { data.responseJSON(queue: testQueue, completionHandler: $0) }
            #expect(json.error?.responseCode == 418)
            #expect(await data.serializingDecodable(Greeting.self).response.error?.responseCode == 418)
            let file = session.download(server.url("/no")).validate()
            #expect(await handed { file.response(queue: testQueue, completionHandler: $0) }.error?.responseCode == 418)
            #expect(await file.serializingDownloadedFileURL().response.error?.responseCode == 418)
            #expect(await file.serializingString().response.error?.responseCode == 418)
        }
    }

    // MARK: Files

    @Test func theFileIsReadOnlyByThoseWhoAskForItsContent() async throws {
        try await ResponseForms.withServer { server in
            let request = session.download(server.url("/json")).validate { _, _, url in
                if let url { try? FileManager.default.removeItem(at: url) }
                return .success(())
            }
            #expect(await request.serializingDownloadedFileURL().response.error == nil)
            #expect(await handed { request.response(queue: testQueue, completionHandler: $0) }.error == nil)
            let error = await request.serializingData().response.error
            guard case .responseSerializationFailed(.inputFileReadFailed(let url))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(url == request.fileURL)
        }
    }

    @Test func aFailedDownloadsResponseHasItsResumeData() async throws {
        try await ResponseForms.withServer { server in
            server.serve("/big", .random(seed: 1, count: 400_000), etag: "\"1\"")
            server.script("/big", [.cut(after: 100_000)])
            let response = await session.download(server.url("/big")).serializingData().response
            #expect(response.error?.isSessionTaskError == true)
            #expect(response.resumeData != nil)
            #expect(response.fileURL == nil)
        }
    }

    // MARK: Monitors

    @Test func monitorsReceiveTheParsedValues() async throws {
        final class Listener: EventMonitor {
            let queue = DispatchQueue(label: "monitor")
            let parsed = Calls<String>()
            func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
                parsed.add("plain \(response.value??.count ?? -1)")
            }
            func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
                parsed.add("\(Value.self) \(response.error == nil)")
            }
            func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
                parsed.add("file \(response.error == nil)")
            }
            func request<Value>(
                _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
            ) { parsed.add("file as \(Value.self) \(response.error == nil)") }
        }
        try await ResponseForms.withServer { server in
            let listener = Listener()
            let session = Session(eventMonitors: [listener])
            session.request(server.url("/json")).response(queue: testQueue) { _ in }
            #expect(await listener.parsed.first() == "plain \(ResponseForms.json.utf8.count)")
            session.request(server.url("/json")).responseString(queue: testQueue) { _ in }
            #expect(await listener.parsed.first() == "String true")
            session.request(server.url("/json")).responseDecodable(of: [Int].self, queue: testQueue) { _ in }
            #expect(await listener.parsed.first() == "Array<Int> false")
            session.download(server.url("/json")).response(queue: testQueue) { response in
                if let url = response.fileURL { try? FileManager.default.removeItem(at: url) }
            }
            #expect(await listener.parsed.first() == "file true")
            session.download(server.url("/json")).responseData(queue: testQueue) { response in
                if let url = response.fileURL { try? FileManager.default.removeItem(at: url) }
            }
            #expect(await listener.parsed.first() == "file as Data true")
        }
    }

    @Test func aRequestThatIsNeverStartedIsNotKeptByItsHandlers() async {
        weak var data: DataRequest?
        weak var file: DownloadRequest?
        do {
            let session = makeSession(folder, starts: false)
            let request = session.request("http://a.example/").responseString(queue: testQueue) { _ in }
            let download = session.download("http://a.example/").responseURL(queue: testQueue) { _ in }
            data = request
            file = download
            withExtendedLifetime((request, download)) {}
        }
        #expect(data == nil)
        #expect(file == nil)
    }
}
