import Foundation
import FoundationNetworking
import FoundationXML
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

    // MARK: Routers

    // 599
    @Test func stringsURLsAndComponentsAreURLs() async throws {
        try await withHTTPBin { server async throws in
            let urlString = server.url("/post")
            let first = try await AF.request(urlString, method: .post).echo

            let url = URL(string: urlString)!
            let second = try await AF.request(url, method: .post).echo

            let urlComponents = URLComponents(url: url, resolvingAgainstBaseURL: true)!
            let third = try await AF.request(urlComponents, method: .post).echo
            #expect([first, second, third].map(\.url) == [urlString, urlString, urlString])
        }
    }

    // 614, 625
    @Test func aTypeOfOnesOwnIsAURL() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "http://example.com/users/mattt/") { _ in Response(body: .text("mattt")) }
            let user = User(username: "mattt")
            let text = try await makeSession(through: server).request(user).serializingString().value
            #expect(text == "mattt")
        }
    }

    // 633
    @Test func aURLRequestCarriesABodyOfItsOwn() async throws {
        try await withHTTPBin { server async throws in
            let url = URL(string: server.url("/post"))!
            var urlRequest = URLRequest(url: url)
            urlRequest.httpMethod = "POST"

            let parameters = ["foo": "bar"]

            do {
                urlRequest.httpBody = try JSONSerialization.data(withJSONObject: parameters, options: [])
            } catch {
                // No-op
            }

            urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")

            let echo = try await AF.request(urlRequest).echo
            #expect(echo.data == #"{"foo":"bar"}"#)
            #expect(echo.headers?["Content-Type"] == "application/json")
        }
    }

    // 655, 682
    @Test func aRouterPutsItsParametersIntoTheQuery() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "http://example.com/search") { Response(body: .text($0.query ?? "")) }
            let session = makeSession(through: server)
            let first = try await session.request(SearchRouter.search(query: "foo bar", page: 1)).serializingString()
                .value
            #expect(first == "offset=50&q=foo%20bar")
            let zeroth = try await session.request(SearchRouter.search(query: "foo bar", page: 0)).serializingString()
                .value
            #expect(zeroth == "q=foo%20bar")
        }
    }

    // 688, 747
    @Test func aRouterHasAMethodAndAPathForEachOperation() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "http://example.com/users*") { request in
                Response(
                    body: .text("\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))"))
            }
            let session = makeSession(through: server)
            let routes: [UserRouter] = [
                .createUser(parameters: ["name": "Mattt"]), .readUser(username: "mattt"),
                .updateUser(username: "mattt", parameters: ["name": "M"]), .destroyUser(username: "mattt"),
            ]
            var answers: [String] = []
            for route in routes { answers.append(try await session.request(route).serializingString().value) }
            #expect(
                answers == [
                    "POST /users name=Mattt", "GET /users/mattt ", "PUT /users/mattt name=M", "DELETE /users/mattt ",
                ])
        }
    }

    // MARK: Serializers of one's own

    // 853, 869; Foundation's parser in the place of the one there, and the serializer in its current form.
    @Test func aSerializerOfOnesOwnReadsXML() async throws {
        try await withHTTPBin { server async throws in
            let titles = await handed { done in
                AF.request(server.url("/xml")).responseXMLDocument { response in
                    done(response.value?.titles)
                }
            }
            #expect(titles == ["First slide", "Second slide"])

            let broken = await handed { done in
                AF.request(server.url("/json")).responseXMLDocument { response in
                    done(response.error)
                }
            }
            guard case .xmlSerialization = broken?.underlyingError as? BackendError else {
                Issue.record("\(String(describing: broken))")
                return
            }

            let empty = await handed { done in
                AF.request(server.url("/bytes/0")).responseXMLDocument { response in
                    done(response.error)
                }
            }
            guard case .dataSerialization = empty?.underlyingError as? BackendError else {
                Issue.record("\(String(describing: empty))")
                return
            }
        }
    }
}

// MARK: - The types of the snippets

private struct User: URLConvertible {
    static let baseURLString = "http://example.com"

    let username: String

    func asURL() throws -> URL {
        let urlString = User.baseURLString + "/users/\(username)/"
        return try urlString.asURL()
    }
}

private enum SearchRouter: URLRequestConvertible {
    case search(query: String, page: Int)

    static let baseURLString = "http://example.com"
    static let perPage = 50

    // MARK: URLRequestConvertible

    func asURLRequest() throws -> URLRequest {
        let result: (path: String, parameters: Parameters) = {
            switch self {
            case .search(let query, let page) where page > 0:
                return ("/search", ["q": query, "offset": SearchRouter.perPage * page])
            case .search(let query, _):
                return ("/search", ["q": query])
            }
        }()

        let url = try SearchRouter.baseURLString.asURL()
        let urlRequest = URLRequest(url: url.appendingPathComponent(result.path))

        return try URLEncoding.default.encode(urlRequest, with: result.parameters)
    }
}

private enum UserRouter: URLRequestConvertible {
    case createUser(parameters: Parameters)
    case readUser(username: String)
    case updateUser(username: String, parameters: Parameters)
    case destroyUser(username: String)

    static let baseURLString = "http://example.com"

    var method: HTTPMethod {
        switch self {
        case .createUser:
            return .post
        case .readUser:
            return .get
        case .updateUser:
            return .put
        case .destroyUser:
            return .delete
        }
    }

    var path: String {
        switch self {
        case .createUser:
            return "/users"
        case .readUser(let username):
            return "/users/\(username)"
        case .updateUser(let username, _):
            return "/users/\(username)"
        case .destroyUser(let username):
            return "/users/\(username)"
        }
    }

    // MARK: URLRequestConvertible

    func asURLRequest() throws -> URLRequest {
        let url = try UserRouter.baseURLString.asURL()

        var urlRequest = URLRequest(url: url.appendingPathComponent(path))
        urlRequest.httpMethod = method.rawValue

        switch self {
        case .createUser(let parameters):
            urlRequest = try URLEncoding.default.encode(urlRequest, with: parameters)
        case .updateUser(_, let parameters):
            urlRequest = try URLEncoding.default.encode(urlRequest, with: parameters)
        default:
            break
        }

        return urlRequest
    }
}

private enum BackendError: Error {
    case network(error: any Error)  // Capture any underlying Error from the URLSession API
    case dataSerialization(error: any Error)
    case jsonSerialization(error: any Error)
    case xmlSerialization(error: any Error)
    case objectSerialization(reason: String)
}

/// The titles of a slide show.
private struct XMLDocument: Sendable {
    let titles: [String]

    init(data: Data) throws {
        final class Reader: NSObject, XMLParserDelegate {
            var titles: [String] = []
            var isTitle = false

            func parser(
                _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
                qualifiedName qName: String?, attributes attributeDict: [String: String]
            ) {
                isTitle = elementName == "title"
                if isTitle { titles.append("") }
            }

            func parser(
                _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
                qualifiedName qName: String?
            ) { isTitle = false }

            func parser(_ parser: XMLParser, foundCharacters string: String) {
                if isTitle { titles[titles.count - 1] += string }
            }
        }

        let reader = Reader()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        guard parser.parse() else { throw BackendError.objectSerialization(reason: "not XML") }
        titles = reader.titles
    }
}

private struct XMLResponseSerializer: ResponseSerializer {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws
        -> XMLDocument
    {
        // Pass through any underlying URLSession error to the .network case.
        guard error == nil else { throw BackendError.network(error: error!) }

        let validData: Data
        do {
            // The existing serializer extracts the data; the error has already been handled.
            validData = try DataResponseSerializer().serialize(
                request: request, response: response, data: data, error: nil)
        } catch {
            throw BackendError.dataSerialization(error: error)
        }

        do {
            return try XMLDocument(data: validData)
        } catch {
            throw BackendError.xmlSerialization(error: error)
        }
    }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseXMLDocument(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<XMLDocument>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: XMLResponseSerializer(), completionHandler: completionHandler)
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
    /// Until what was handed to the queues before has been done.
    fileprivate func settled() async {
        await withCheckedContinuation { continuation in
            rootQueue.async { [requestQueue] in requestQueue.async { continuation.resume() } }
        }
    }
}
