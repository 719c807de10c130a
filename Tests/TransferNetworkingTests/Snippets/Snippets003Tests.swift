import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 003, *Advanced Usage* of a later version. The numbers are its lines; what it has in common with document 000
/// is tested there.
@Suite("Snippets of document 003", .timeLimit(.minutes(1)))
struct Snippets003Tests {
    struct DecodableType: Decodable { let url: String }

    // MARK: Sessions

    // 125
    @Test func allRequestsOfASessionCanBeSuspended() async throws {
        try await withHTTPBin { server async throws in
            let session = Session()
            let requests = (0..<3).map { _ in session.request(server.url("/delay/10")).response { _ in } }
            try await server.waitForHeld(3)
            await handed { done in
                session.withAllRequests { requests in
                    for request in requests { request.suspend() }
                    done(())
                }
            }
            #expect(requests.allSatisfy { $0.isSuspended })
        }
    }

    // 131
    @Test func allRequestsOfASessionCanBeCancelled() async throws {
        try await withHTTPBin { server async throws in
            let session = Session()
            let cancelled = Calls<Bool>()
            let requests = (0..<3).map { _ in
                session.request(server.url("/delay/10")).response {
                    cancelled.add($0.error?.isExplicitlyCancelledError == true)
                }
            }
            try await server.waitForHeld(3)
            let transcript = Transcript()
            await handed { done in
                session.cancelAllRequests(completingOn: .main) {  // completingOn uses .main by default.
                    transcript.print("Cancelled all requests.")
                    done(())
                }
            }
            for _ in requests { #expect(await cancelled.first() == true) }
            #expect(requests.allSatisfy { $0.isCancelled })
            #expect(transcript.text == "Cancelled all requests.")
        }
    }

    // MARK: What a request makes on its way

    // 260
    @Test func eachURLRequestIsReported() async throws {
        try await withHTTPBin { server async throws in
            server.script("/get", [.status(500)])
            let made = Calls<String?>()
            let value = await handed { done in
                AF.request(server.url("/get"), interceptor: Retrier { $3($0.retryCount == 0 ? .retry : .doNotRetry) })
                    .validate()
                    .onURLRequestCreation { request in
                        made.add(request.url?.absoluteString)
                    }
                    .responseDecodable(of: DecodableType.self) { response in
                        done(response.value)
                    }
            }
            #expect(value?.url == server.url("/get"))
            #expect(made.all == [server.url("/get"), server.url("/get")])
        }
    }

    // 267
    @Test func eachTaskIsReported() async throws {
        try await withHTTPBin { server async throws in
            let made = Calls<URLSessionTask>()
            let value = await handed { done in
                AF.request(server.url("/get"))
                    .onURLSessionTaskCreation { task in
                        made.add(task)
                    }
                    .responseDecodable(of: DecodableType.self) { response in
                        done(response.value)
                    }
            }
            #expect(value?.url == server.url("/get"))
            #expect(made.all.map(\.originalRequest?.url?.absoluteString) == [server.url("/get")])
        }
    }

    // 279
    @Test func theHeadOfAResponseIsReportedBeforeItsBody() async throws {
        try await withHTTPBin { server async throws in
            server.script("/bytes/100000", [.stall(after: 10)])
            let heads = Calls<Int>()
            let bodies = Calls<Int?>()
            AF.request(server.url("/bytes/100000"))
                .onHTTPResponse { response in
                    heads.add(response.statusCode)
                }
                .responseData { response in
                    bodies.add(response.value?.count)
                }
            #expect(await heads.first() == 200)
            #expect(bodies.all.isEmpty)
            try await server.waitForHeld(1)
            server.release()
            let count = await bodies.first() ?? nil
            #expect(heads.all == [200])
            #expect(count == 100_000)
        }
    }

    // 283, 289
    @Test(arguments: [DataRequest.ResponseDisposition.allow, .cancel])
    func aHandlerDecidesWhetherTheBodyIsTaken(disposition: DataRequest.ResponseDisposition) async throws {
        try await withHTTPBin { server async throws in
            let error = await handed { done in
                AF.request(server.url("/get"))
                    .onHTTPResponse { response, completionHandler in
                        completionHandler(disposition)
                    }
                    .response { response in
                        done(response.error)
                    }
            }
            #expect((error?.isExplicitlyCancelledError ?? false) == (disposition == .cancel))
        }
    }

    // 293
    @Test func aHandlerMayAwaitBeforeItDecides() async throws {
        @Sendable func someAsyncMethod() async { await Task.yield() }

        try await withHTTPBin { server async throws in
            let value = await AF.request(server.url("/get"))
                .onHTTPResponse { response in
                    await someAsyncMethod()
                    return .allow
                }
                .serializingDecodable(DecodableType.self).result
            #expect(try value.get().url == server.url("/get"))
        }
    }

    // 299
    @Test func theHeadsOfResponsesAreAStream() async throws {
        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/get"))
            let responses = request.httpResponses()
            request.response { _ in }

            var statuses: [Int] = []
            for await response in responses {
                statuses.append(response.statusCode)
            }
            #expect(statuses == [200])
        }
    }

    // 342
    @Test func aStreamIsValidatedByItsHead() async throws {
        try await withHTTPBin { server async throws in
            let error = await handed { done in
                AF.streamRequest(server.url("/stream/3"))
                    .validate { request, response in
                        response.value(forHTTPHeaderField: "Content-Type") == "text/plain"
                            ? .success(()) : .failure(TestFailure())
                    }
                    .responseStream { stream in
                        if case .complete(let completion) = stream.event { done(completion.error) }
                    }
            }
            #expect(error?.underlyingError as? TestFailure == TestFailure())
        }
    }

    // MARK: Making requests

    // 709
    @Test func aURLRequestIsMadeByHand() async throws {
        try await withHTTPBin { server async throws in
            let url = URL(string: server.url("/post"))!
            var urlRequest = URLRequest(url: url)
            urlRequest.method = .post

            let parameters = ["foo": "bar"]

            do {
                urlRequest.httpBody = try JSONEncoder().encode(parameters)
            } catch {
                // Handle error.
            }

            urlRequest.headers.add(.contentType("application/json"))

            let echo = try await AF.request(urlRequest).echo
            #expect(echo.data == #"{"foo":"bar"}"#)
        }
    }

    // 730
    @Test func aRouterMakesTheRequestsOfAnAPI() async throws {
        try await withHTTPBin { server async throws in
            let session = makeSession(through: server)
            let get = try await session.request(Router.get).echo
            #expect(get.url == "http://httpbin.test/get")
            let post = try await session.request(Router.post).echo
            #expect(post.url == "http://httpbin.test/post")
        }
    }

    // 756
    @Test func aRouterEncodesItsParameters() async throws {
        try await withHTTPBin { server async throws in
            let session = makeSession(through: server)
            let get = try await session.request(ParameterRouter.get(["foo": "bar"])).echo
            #expect(get.args == ["foo": "bar"])
            let post = try await session.request(ParameterRouter.post(["foo": "bar"])).echo
            #expect(post.data == #"{"foo":"bar"}"#)
        }
    }

    // MARK: Responses

    // 795
    @Test func dataAndDownloadsCanBeTakenUnserialized() async throws {
        try await withHTTPBin { server async throws in
            let data: AFDataResponse<Data?> = await handed { done in
                AF.request(server.url("/bytes/5")).response(queue: .main) { done($0) }
            }
            #expect(data.value??.count == 5)
            let file: AFDownloadResponse<URL?> = await handed { done in
                AF.download(server.url("/bytes/5")).response(queue: .main) { done($0) }
            }
            let url = try #require(file.value ?? nil)
            #expect(try Data(contentsOf: url).count == 5)
        }
    }

    // 878, and 829 for the methods that take it
    @Test func aSerializerOfOnesOwnServesDataAndDownloads() async throws {
        struct CommaDelimitedSerializer: ResponseSerializer {
            func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws
                -> [String]
            {
                // Call the existing StringResponseSerializer to get many behaviors automatically.
                let string = try StringResponseSerializer().serialize(
                    request: request,
                    response: response,
                    data: data,
                    error: error)

                return string.split(separator: ",").map(String.init)
            }
        }

        try await withHTTPBin { server async throws in
            server.serve("/list", .text("a,b,c"))
            let list = await handed { done in
                AF.request(server.url("/list")).response(responseSerializer: CommaDelimitedSerializer()) { response in
                    done(response.value)
                }
            }
            #expect(list == ["a", "b", "c"])
            let downloaded = await handed { done in
                AF.download(server.url("/list")).response(responseSerializer: CommaDelimitedSerializer()) { response in
                    done(response.value)
                }
            }
            #expect(downloaded == ["a", "b", "c"])
            let empty = await handed { done in
                AF.request(server.url("/bytes/0")).response(responseSerializer: CommaDelimitedSerializer()) {
                    response in
                    done(response.error)
                }
            }
            #expect(empty?.isResponseSerializationError == true)
        }
    }

    // 907, and 896 for what it conforms to
    @Test func aStreamIsSerializedPieceByPiece() async throws {
        struct CustomSerializer: DataStreamSerializer {
            func serialize(_ data: Data) throws -> Int { data.count { $0 == UInt8(ascii: "\n") } }
        }

        try await withHTTPBin { server async throws in
            let counts = Calls<Int>()
            let error = await handed { done in
                AF.streamRequest(server.url("/stream/20")).responseStream(using: CustomSerializer()) { stream in
                    switch stream.event {
                    case .stream(let result): counts.add(try result.get())
                    case .complete(let completion): done(completion.error)
                    }
                }
            }
            #expect(error == nil)
            #expect(counts.all.reduce(0, +) == 20)
        }
    }
}

// MARK: - The types of the snippets

private enum Router: URLRequestConvertible {
    case get, post

    var baseURL: URL {
        return URL(string: "http://httpbin.test")!
    }

    var method: HTTPMethod {
        switch self {
        case .get: return .get
        case .post: return .post
        }
    }

    var path: String {
        switch self {
        case .get: return "get"
        case .post: return "post"
        }
    }

    func asURLRequest() throws -> URLRequest {
        let url = baseURL.appendingPathComponent(path)
        var request = URLRequest(url: url)
        request.method = method

        return request
    }
}

private enum ParameterRouter: URLRequestConvertible {
    case get([String: String]), post([String: String])

    var baseURL: URL {
        return URL(string: "http://httpbin.test")!
    }

    var method: HTTPMethod {
        switch self {
        case .get: return .get
        case .post: return .post
        }
    }

    var path: String {
        switch self {
        case .get: return "get"
        case .post: return "post"
        }
    }

    func asURLRequest() throws -> URLRequest {
        let url = baseURL.appendingPathComponent(path)
        var request = URLRequest(url: url)
        request.method = method

        switch self {
        case .get(let parameters):
            request = try URLEncodedFormParameterEncoder().encode(parameters, into: request)
        case .post(let parameters):
            request = try JSONParameterEncoder().encode(parameters, into: request)
        }

        return request
    }
}
