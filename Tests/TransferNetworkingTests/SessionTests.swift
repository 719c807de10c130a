import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Sessions", .timeLimit(.minutes(1)))
struct SessionTests {
    // MARK: All requests

    @Test func startedRequestsAreKnownUntilTheyEnd() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.holdHead, .holdHead])
            let session = makeSession()
            let idle = session.request(server.url("/x"))
            let requests = (0..<2).map { _ in session.request(server.url("/x")) }
            let tasks = requests.map { $0.serializingData() }
            try await server.waitForHeld(2)
            let seen = Calls<Set<Request>>()
            session.withAllRequests { seen.add($0) }
            let underWay = await seen.first()
            #expect(underWay == Set(requests))
            server.release()
            for task in tasks { _ = await task.response }
            session.withAllRequests { seen.add($0) }
            let afterwards = await seen.first()
            #expect(afterwards == [])
            #expect(idle.isInitialized)
        }
    }

    @Test func requestsOfEveryKindAreKnownAndCancelled() async throws {
        let folder = try TemporaryFolder("session")
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .holdHead)
            let session = makeSession(folder)
            let ends = Calls<Bool>()
            session.request(server.url("/x")).response(queue: testQueue) {
                ends.add($0.error?.isExplicitlyCancelledError == true)
            }
            session.download(server.url("/x")).response(queue: testQueue) {
                ends.add($0.error?.isExplicitlyCancelledError == true)
            }
            session.upload(Data(count: 10), to: server.url("/x")).response(queue: testQueue) {
                ends.add($0.error?.isExplicitlyCancelledError == true)
            }
            session.streamRequest(server.url("/x")).responseStream(on: testQueue) { stream in
                if case .complete(let end) = stream.event { ends.add(end.error?.isExplicitlyCancelledError == true) }
            }
            try await server.waitForHeld(4)
            let done = Calls<Void>()
            session.cancelAllRequests(completingOn: testQueue) { done.add(()) }
            await done.first()
            for _ in 0..<4 {
                let wasCancelled = await ends.first()
                #expect(wasCancelled == true)
            }
            #expect(server.requests.count == 4)
        }
    }

    @Test func requestsWithoutEndCanBeCancelledWithoutAWord() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let session = makeSession()
            let task = session.request(server.url("/x")).serializingData()
            try await server.waitForHeld(1)
            session.cancelAllRequests()
            let response = await task.response
            #expect(response.error?.isExplicitlyCancelledError == true)
            let done = Calls<Void>()
            session.cancelAllRequests(completingOn: testQueue) { done.add(()) }
            await done.first()
        }
    }

    /// A running request keeps its session alive, but not beyond its own end.
    @Test func aSessionLivesAsLongAsItsRequests() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.holdHead])
            weak var gone: Session?
            let task: DataTask<String>
            do {
                let session = makeSession()
                gone = session
                task = session.request(server.url("/x")).serializingString()
            }
            try await server.waitForHeld(1)
            #expect(gone != nil)
            server.release()
            let text = try await task.value
            #expect(text == "x")
        }
    }

    @Test func aSessionThatIsOverIsFreedAndClosesItsConnections() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            weak var gone: Session?
            do {
                let session = makeSession()
                gone = session
                _ = try await session.request(server.url("/x")).serializingString().value
                #expect(server.openConnections == 1)
            }
            try await server.waitForConnections(closed: 1)
            #expect(gone == nil)
        }
    }

    // MARK: Queues

    @Test func everythingRunsOnTheQueueItIsDocumentedFor() async throws {
        struct Place: ResponseSerializer {
            let look: @Sendable (String) -> Void
            func serialize(
                request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
            ) throws -> Int {
                look("serialize")
                if let error { throw error }
                return data?.count ?? 0
            }
        }
        struct Convertible: URLRequestConvertible {
            let url: String
            let look: @Sendable (String) -> Void
            func asURLRequest() throws -> URLRequest {
                look("create")
                return try URLRequest(url: url, method: .get)
            }
        }
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503)])
            let key = DispatchSpecificKey<String>()
            func queue(_ name: String) -> DispatchQueue {
                let queue = DispatchQueue(label: name)
                queue.setSpecific(key: key, value: name)
                return queue
            }
            let places = Calls<String>()
            let look: @Sendable (String) -> Void = { what in
                places.add("\(what) on \(DispatchQueue.getSpecific(key: key) ?? "another")")
            }
            let interceptor = Interceptor(
                adaptHandler: { request, _, completion in
                    look("adapt")
                    completion(.success(request))
                },
                retryHandler: { request, _, _, completion in
                    look("retry")
                    completion(request.retryCount == 0 ? .retry : .doNotRetry)
                })
            let session = Session(
                rootQueue: queue("root"), requestQueue: queue("requests"), serializationQueue: queue("serialization"),
                interceptor: interceptor)
            session.request(Convertible(url: server.url("/x"), look: look))
                .validate { _, response, _ in
                    look("validate")
                    return response.statusCode == 200 ? .success(()) : .failure(TestFailure())
                }
                .response(queue: queue("handlers"), responseSerializer: Place(look: look)) { _ in look("handle") }
            _ = await places.first { $0.hasPrefix("handle") }
            #expect(
                places.all == [
                    "create on requests", "adapt on requests", "validate on root", "retry on root",
                    "create on requests", "adapt on requests", "validate on root", "serialize on serialization",
                    "handle on handlers",
                ])
            let all = Calls<String?>()
            session.withAllRequests { _ in all.add(DispatchQueue.getSpecific(key: key)) }
            let place = await all.first()
            #expect(place == "root")
        }
    }

    @Test func handlersAreCalledOnTheMainQueueUnlessTheySayOtherwise() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let (places, key) = (Calls<Bool>(), DispatchSpecificKey<Bool>())
            DispatchQueue.main.setSpecific(key: key, value: true)
            defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
            makeSession().request(server.url("/x")).responseString { _ in
                places.add(DispatchQueue.getSpecific(key: key) == true)
            }
            let isMain = await places.first()
            #expect(isMain == true)
        }
    }

    // MARK: Requests

    @Test func aModifierChangesTheRequestBeforeItsParametersAndAdapters() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(interceptor: HeaderAdapter("X-A", "adapted")).request(
                server.url("/x"), parameters: ["q": "1"], headers: ["X-B": "kept"]
            ) { urlRequest in
                urlRequest.headers.add(name: "X-A", value: "modified")
                urlRequest.timeoutInterval = 7
            }
            _ = await request.response()
            let sent = try #require(server.requests.first)
            #expect(sent.headers["X-A"] == "modified,adapted")
            #expect(sent.headers["X-B"] == "kept")
            #expect(sent.target == "/x?q=1")
            #expect(request.request?.timeoutInterval == 7)
        }
    }

    @Test func aModifierThatThrowsFailsTheRequest() async throws {
        try await withTestServer { server async throws in
            let session = makeSession()
            let url = server.url("/x")
            let folder = try TemporaryFolder("session")
            let file = URL(fileURLWithPath: folder.path("none"))
            let fail: Session.RequestModifier = { _ in throw TestFailure() }
            let errors = [
                await session.request(url, requestModifier: fail).response().error,
                await session.upload(Data(), to: url, requestModifier: fail).response().error,
                await session.upload(file, to: url, requestModifier: fail).response().error,
                await session.download(url, requestModifier: fail).serializingDownloadedFileURL().response.error,
            ]
            for error in errors {
                guard case .createURLRequestFailed(let cause) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(cause is TestFailure)
            }
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Configurations

    @Test func additionalHeadersAreSentUnlessTheRequestHasItsOwn() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.add(name: "X-Team", value: "media")
            configuration.headers.add(name: "X-Both", value: "session")
            let session = Session(configuration: configuration)
            _ = await session.request(server.url("/x"), headers: ["x-both": "request"]).response()
            let sent = try #require(server.requests.first)
            #expect(sent.headers.all("X-Team") == ["media"])
            #expect(sent.headers.all("X-Both") == ["request"])
            #expect(sent.headers["Accept-Encoding"] != nil)
        }
    }

    @Test func aChangeOfTheConfigurationAfterwardsHasNoEffect() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let configuration = URLSessionConfiguration.af.default
            let session = Session(configuration: configuration)
            configuration.headers.add(name: "X-Late", value: "late")
            _ = await session.request(server.url("/x")).response()
            #expect(server.requests.first?.headers["X-Late"] == nil)
        }
    }

    @Test func timeoutsAreThoseOfTheConfiguration() {
        let configuration = URLSessionConfiguration.af.default
        #expect(SessionSettings(configuration: configuration).requestTimeout == 60)
        #expect(SessionSettings(configuration: configuration).resourceTimeout == 604_800)
        configuration.timeoutIntervalForRequest = 5
        configuration.timeoutIntervalForResource = 50
        configuration.allowsCellularAccess = false
        let settings = SessionSettings(configuration: configuration)
        #expect(settings.requestTimeout == 5)
        #expect(settings.resourceTimeout == 50)
        #expect(!settings.allowsCellularAccess)
    }

    @Test func aSilentServerIsGivenUpAfterTheRequestTimeout() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let configuration = URLSessionConfiguration.af.default
            configuration.timeoutIntervalForRequest = 0.3
            let start = ContinuousClock.now
            let response = await Session(configuration: configuration).request(server.url("/x")).response()
            #expect(URLError.code(of: response.error) == .timedOut)
            #expect(ContinuousClock.now - start >= .milliseconds(250))
        }
    }

    @Test func aServerThatNeverFinishesIsGivenUpAfterTheResourceTimeout() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 1_000_000))
            server.script("/x", [.trickle(100, every: .milliseconds(20))])
            let configuration = URLSessionConfiguration.af.default
            configuration.timeoutIntervalForResource = 0.5
            let response = await Session(configuration: configuration).request(server.url("/x")).response()
            #expect(URLError.code(of: response.error) == .timedOut)
            #expect(response.data?.isEmpty == false)
        }
    }

    @Test func theDelegateOfItsURLSessionIsTheSessionsOwn() {
        let delegate = SessionDelegate()
        let session = Session(delegate: delegate)
        #expect(session.session.delegate === delegate)
        #expect(session.session === session.session)
    }

    @Test func aSessionOfAURLSessionHasItsConfiguration() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.add(name: "X-Team", value: "media")
            let foundation = URLSession(configuration: configuration)
            let delegate = SessionDelegate()
            let session = Session(session: foundation, delegate: delegate, rootQueue: DispatchQueue(label: "root"))
            #expect(session.session === foundation)
            #expect(session.delegate === delegate)
            #expect(session.rootQueue.label == "root")
            _ = await session.request(server.url("/x")).response()
            #expect(server.requests.first?.headers["X-Team"] == "media")
        }
    }

    @Test func theDefaultsAreTheDocumentedOnes() {
        let session = Session()
        #expect(session.startRequestsImmediately)
        #expect(session.interceptor == nil)
        #expect(session.redirectHandler == nil)
        #expect(session.settings.eventMonitors.map { $0 is AlamofireNotifications } == [true])
        #expect(session.requestSetup == .lazy)
        #expect(session.settings.maximumConnectionsPerHost == 6)
        #expect(session.delegate.fileManager === FileManager.default)
        #expect(AF === Session.default)
    }
}
