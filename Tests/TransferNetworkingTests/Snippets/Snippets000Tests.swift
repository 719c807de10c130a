import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 000, *Advanced Usage*. The numbers are its lines.
@Suite("Snippets of document 000", .timeLimit(.minutes(1)))
struct Snippets000Tests {
    struct SomeType: Decodable { let url: String }

    // MARK: Sessions

    // 17, 21; `Session.af.default` there is `Session.default`.
    @Test func theNamespaceIsTheDefaultSession() async throws {
        try await withHTTPBin { server async throws in
            let first = try await AF.request(server.url("/get")).echo

            let session = Session.default
            let second = try await session.request(server.url("/get")).echo
            #expect(first.headers == second.headers)
            #expect(session === AF)
        }
    }

    // 48
    @Test func aSessionHasTheConfigurationItWasMadeWith() async throws {
        try await withHTTPBin { server async throws in
            let configuration = URLSessionConfiguration.af.default
            configuration.allowsCellularAccess = false

            let session = Session(configuration: configuration)
            #expect(!session.settings.allowsCellularAccess)
            #expect(!session.session.configuration.allowsCellularAccess)
            // Line 46: and the default fields.
            let echo = try await session.request(server.url("/get")).echo
            #expect(echo.headers?["Accept-Encoding"] == HTTPHeader.defaultAcceptEncoding.value)
            #expect(echo.headers?["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        }
    }

    // 62
    @Test func aDelegateHasTheFileManagerForAllFiles() throws {
        let delegate = SessionDelegate(fileManager: .default)
        #expect(Session(delegate: delegate).delegate === delegate)
        #expect(delegate.fileManager === FileManager.default)
    }

    // 69
    @Test func requestsWaitForResumeWhenAskedTo() async throws {
        try await withHTTPBin { server async throws in
            let session = Session(startRequestsImmediately: false)

            let ended = Calls<Bool>()
            let request = session.request(server.url("/get")).response { ended.add($0.error == nil) }
            #expect(request.isInitialized)
            await session.settled()
            #expect(server.requests.isEmpty)
            request.resume()
            #expect(await ended.first() == true)
            #expect(server.requests.count == 1)
        }
    }

    // 76
    @Test func eachKindOfWorkCanHaveAQueueOfItsOwn() async throws {
        try await withHTTPBin { server async throws in
            let rootQueue = DispatchQueue(label: "com.app.session.rootQueue")
            let requestQueue = DispatchQueue(label: "com.app.session.requestQueue")
            let serializationQueue = DispatchQueue(label: "com.app.session.serializationQueue")

            let session = Session(
                rootQueue: rootQueue,
                requestQueue: requestQueue,
                serializationQueue: serializationQueue)

            let adapter = Adapter { request, _, completion in
                dispatchPrecondition(condition: .onQueue(requestQueue))
                completion(.success(request))
            }
            let serialized = try await session.request(server.url("/get"), interceptor: adapter)
                .serializingResponse(using: QueueProbe(queue: serializationQueue)).value
            #expect(serialized)
        }
    }

    // 91
    @Test func aRetryPolicyOfASessionRetriesWhatFailed() async throws {
        try await withHTTPBin { server async throws in
            let policy = RetryPolicy()
            let session = Session(interceptor: policy)

            server.script("/get", [.status(503)])
            let request = session.request(server.url("/get")).validate()
            let echo = try await request.echo
            #expect(echo.url == server.url("/get"))
            #expect(request.retryCount == 1)
            #expect(server.requests.map(\.status) == [503, 200])
        }
    }

    // 123
    @Test func aMonitorOfClosuresSeesWhatATaskDid() async throws {
        try await withHTTPBin { server async throws in
            let completed = Calls<String>()
            let monitor = ClosureEventMonitor()
            monitor.requestDidCompleteTaskWithError = { (request, task, error) in
                completed.add(String(reflecting: request))
            }
            let session = Session(eventMonitors: [monitor])
            _ = try await session.request(server.url("/get")).echo
            let text = await completed.first()
            #expect(text?.contains(server.url("/get")) == true)
        }
    }

    // 137
    @Test func aSessionCanBeMadeFromAURLSession() async throws {
        try await withHTTPBin { server async throws in
            let rootQueue = DispatchQueue(label: "org.alamofire.customQueue")
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.underlyingQueue = rootQueue
            let delegate = SessionDelegate()
            let configuration = URLSessionConfiguration.af.default
            configuration.httpAdditionalHeaders?["X-Team"] = "media"
            let urlSession = URLSession(
                configuration: configuration,
                delegate: delegate,
                delegateQueue: queue)
            let session = Session(session: urlSession, delegate: delegate, rootQueue: rootQueue)

            let echo = try await session.request(server.url("/get")).echo
            #expect(echo.headers?["X-Team"] == "media")
            #expect(session.rootQueue === rootQueue)
        }
    }

    // MARK: Requests

    // 180
    @Test func aRequestGoesThroughItsStates() async throws {
        try await withHTTPBin { server async throws in
            let session = Session(startRequestsImmediately: false)
            let request = session.request(server.url("/delay/10"))
            #expect(request.state == .initialized)
            request.resume()
            #expect(request.state == .resumed)
            try await server.waitForHeld(1)
            request.suspend()
            #expect(request.state == .suspended)
            request.resume()
            #expect(request.state == .resumed)
            request.cancel()
            #expect(request.state == .cancelled)
            request.resume()
            #expect(request.state == .cancelled)

            let other = session.request(server.url("/get"))
            let ended = Calls<Void>()
            other.response { _ in ended.add(()) }.resume()
            await ended.first()
            #expect(other.state == .finished)
        }
    }

    // 199
    @Test func progressGoesBothWays() async throws {
        try await withHTTPBin { server async throws in
            let up = Calls<Double>()
            let down = Calls<Double>()
            let value = await handed { done in
                AF.upload(Data(count: 100_000), to: server.url("/post"))
                    .uploadProgress { progress in
                        up.add(progress.fractionCompleted)
                    }
                    .downloadProgress { progress in
                        down.add(progress.fractionCompleted)
                    }
                    .responseDecodable(of: SomeType.self) { response in
                        done(response.value)
                    }
            }
            #expect(value?.url == server.url("/post"))
            #expect(await up.first { $0 == 1 } == 1)
            #expect(await down.first { $0 == 1 } == 1)
        }
    }

    // 307
    @Test func aValidationOfOnesOwnSeesRequestResponseAndData() async throws {
        try await withHTTPBin { server async throws in
            let seen = Calls<(URLRequest?, Int, Int?)>()
            let error = await AF.request(server.url("/bytes/5"))
                .validate { request, response, data in
                    seen.add((request, response.statusCode, data?.count))
                    return .failure(TestFailure())
                }
                .response().error
            #expect(error?.underlyingError as? TestFailure == TestFailure())
            let call = try #require(seen.all.first)
            #expect(call.0?.url?.absoluteString == server.url("/bytes/5"))
            #expect(call.1 == 200)
            #expect(call.2 == 5)
        }
    }

    // 329
    @Test func aCancelledDownloadHandsOverItsResumeData() async throws {
        try await withHTTPBin { server async throws in
            server.script("/download/600000", [.stall(after: 200_000)])
            let arrived = Calls<Int64>()
            let download = AF.download(server.url("/download/600000"))
                .downloadProgress { arrived.add($0.completedUnitCount) }
                .response { _ in }
            _ = await arrived.first { $0 == 200_000 }
            let data = await handed { done in
                download
                    .cancel { resumeData in
                        done(resumeData)
                    }
            }
            #expect(data?.isEmpty == false)
            #expect(download.resumeData == data)
        }
    }

    // 339
    @Test func aDownloadIsValidatedByAClosure() async throws {
        try await withHTTPBin { server async throws in
            let seen = Calls<(URLRequest?, Int, Int?)>()
            let error = await AF.download(server.url("/bytes/5"))
                .validate { request, response, fileURL in
                    seen.add((request, response.statusCode, fileURL.flatMap { try? Data(contentsOf: $0) }?.count))
                    return .failure(TestFailure())
                }
                .serializingDownloadedFileURL().response.error
            #expect(error?.underlyingError as? TestFailure == TestFailure())
            let call = try #require(seen.all.first)
            #expect(call.0?.url?.absoluteString == server.url("/bytes/5"))
            #expect(call.1 == 200)
            #expect(call.2 == 5)
        }
    }

    // MARK: Interceptors

    // 363
    @Test func anAdapterAddsAToken() async throws {
        struct TokenAdapter: RequestInterceptor {
            let accessToken: String

            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                var urlRequest = urlRequest
                urlRequest.headers.add(.authorization(bearerToken: accessToken))

                completion(.success(urlRequest))
            }
        }

        try await withHTTPBin { server async throws in
            let adapter = TokenAdapter(accessToken: "t0")
            let request = AF.request(server.url("/bearer"), interceptor: adapter)
            let text = try await request.serializingString().value
            #expect(text.contains(#""token": "t0""#))
            // Line 273: the request keeps both.
            #expect(request.requests.count == 2)
            #expect(request.requests.map { $0.headers["Authorization"] } == [nil, "Bearer t0"])
        }
    }

    // 390: each outcome of a retrier, as it says; 380 is what the retrier conforms to.
    @Test func aRetrierDecidesWhatBecomesOfAFailure() async throws {
        try await withHTTPBin { server async throws in
            let outcomes: [RetryResult] = [
                .retry, .retryWithDelay(0.001), .doNotRetry, .doNotRetryWithError(TestFailure()),
            ]
            var statuses: [[Int?]] = []
            var errors: [AFError?] = []
            for outcome in outcomes {
                let before = server.requests.count
                server.script("/get", [.status(500)])
                let retrier = Retrier { _, _, _, completion in completion(outcome) }
                let request = AF.request(server.url("/get"), interceptor: retrier).validate()
                errors.append(await request.response().error)
                statuses.append(server.requests.dropFirst(before).map(\.status))
            }
            #expect(statuses == [[500, 200], [500, 200], [500], [500]])
            #expect(errors.map { $0 == nil } == [true, true, false, false])
            #expect(errors[2]?.responseCode == 500)
            #expect(errors[3]?.isRequestRetryError == true)
        }
    }

    // 406: what `RetryPolicy` does, as a subclass would write it.
    @Test func aPolicyOfOnesOwnRetriesWhatCanBeRepeated() async throws {
        final class OwnPolicy: RetryPolicy, @unchecked Sendable {  // Adds nothing to its superclass.
            override func retry(
                _ request: Request, for session: Session, dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                if request.retryCount < retryLimit,
                    let httpMethod = request.request?.method,
                    retryableHTTPMethods.contains(httpMethod),
                    shouldRetry(request: request, dueTo: error)
                {
                    let timeDelay =
                        pow(Double(exponentialBackoffBase), Double(request.retryCount)) * exponentialBackoffScale
                    completion(.retryWithDelay(timeDelay))
                } else {
                    completion(.doNotRetry)
                }
            }
        }

        try await withHTTPBin { server async throws in
            let policy = OwnPolicy(exponentialBackoffScale: 0.001)
            let get = AF.request(server.url("/status/503"), interceptor: policy).validate()
            #expect(await get.response().error?.responseCode == 503)
            #expect(get.retryCount == 2)
            let post = AF.request(server.url("/status/503"), method: .post, interceptor: policy).validate()
            #expect(await post.response().error?.responseCode == 503)
            #expect(post.retryCount == 0)
        }
    }
}

/// Whether it is called on a queue.
private struct QueueProbe: ResponseSerializer {
    let queue: DispatchQueue

    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }
}

extension Session {
    /// Waits until the earlier work of the queues has been done.
    fileprivate func settled() async {
        await withCheckedContinuation { continuation in
            rootQueue.async { [requestQueue] in requestQueue.async { continuation.resume() } }
        }
    }
}
