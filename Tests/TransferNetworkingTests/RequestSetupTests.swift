import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("When requests are set up and started", .timeLimit(.minutes(1)))
struct RequestSetupTests {
    private func eager(_ recorder: EventRecorder? = nil, starts: Bool = true) -> Session {
        var settings = SessionSettings()
        settings.loops = 1
        settings.requestSetup = .eager
        settings.startRequestsImmediately = starts
        if let recorder { settings.eventMonitors = [recorder] }
        return Session(settings)
    }

    @Test func lazyIsTheDefaultAndDoesNothingBeforeTheStart() async throws {
        let recorder = EventRecorder()
        let session = Session(eventMonitors: [recorder])
        #expect(session.requestSetup == .lazy)
        let request = session.request("http://127.0.0.1:1/x")
        await session.rootQueue.passed()
        await recorder.queue.passed()
        #expect(recorder.names.isEmpty)
        #expect(request.requests.isEmpty && request.task == nil)
        #expect(request.description == "No request created yet.")
    }

    @Test func anEagerRequestIsMadeAdaptedAndDescribedBeforeItIsStarted() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let recorder = EventRecorder()
            let session = eager(recorder)
            let adapter = HeaderAdapter("X-A", "1")
            let request = session.request(server.url("/x"), interceptor: adapter)
            await request.reaches(.active(.initialized, .prepared))
            #expect(request.isInitialized)
            #expect(request.request?.value(forHTTPHeaderField: "X-A") == "1")
            #expect(request.description == "GET \(server.url("/x"))")
            #expect(request.cURLDescription().contains("X-A"))
            #expect(request.task?.state == .suspended)
            await recorder.until("didCreateTask")
            #expect(
                recorder.names == [
                    "didCreateInitialURLRequest", "didAdapt", "didCreateURLRequest", "didCreateTask",
                ])
            #expect(server.requests.isEmpty)
            #expect(try await request.serializingString().value == "x")
            #expect(adapter.calls == 1)
            withExtendedLifetime(session) {}
        }
    }

    @Test func anEagerRequestSuspendedFirstWaitsAsATaskAndResumes() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let recorder = EventRecorder()
            let session = eager(recorder)
            let request = session.request(server.url("/x"))
            request.suspend()
            let task = request.serializingString()
            await recorder.until("didSuspendTask")
            #expect(request.isSuspended && request.task?.state == .suspended)
            #expect(server.requests.isEmpty)
            request.resume()
            #expect(try await task.value == "x")
            #expect(recorder.all("didResumeTask").count == 1)
            withExtendedLifetime(session) {}
        }
    }

    @Test func anEagerRequestThatIsCancelledBeforeItsStartEndsWithItsTask() async throws {
        let recorder = EventRecorder()
        let session = eager(recorder)
        let request = session.request("http://127.0.0.1:1/x")
        await request.reaches(.active(.initialized, .prepared))
        request.cancel()
        await recorder.until("didFinish")
        for event in ["didCancel", "didCancelTask", "didCompleteTask", "didFinish"] {
            #expect(recorder.all(event).count == 1, "\(event)")
        }
        #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
        withExtendedLifetime(session) {}
    }

    @Test func anEagerRequestThatCannotBeMadeFailsBeforeItsStart() async throws {
        let session = eager(starts: false)
        let request = session.request("no url at all: \u{0}")
        await request.reaches(.finished)
        #expect(request.error?.isInvalidURLError == true)
        #expect(await request.serializingData().response.error?.isInvalidURLError == true)
        withExtendedLifetime(session) {}
    }

    // MARK: Without their session

    @Test(arguments: [false, true])
    func anEagerRequestThatWasNotStartedEndsWithItsSession(isSuspended: Bool) async throws {
        let recorder = EventRecorder()
        func prepared() async -> (DataRequest, DispatchQueue, URLSession) {
            let session = eager(recorder)
            let request = session.request("http://127.0.0.1:1/x")
            if isSuspended { request.suspend() }
            await request.reaches(.active(isSuspended ? .suspended : .initialized, .prepared))
            return withExtendedLifetime(session) { (request, session.rootQueue, session.session) }
        }
        let (request, rootQueue, foundation) = await prepared()
        await request.reaches(.finished)
        #expect(request.error?.isSessionDeinitializedError == true)
        #expect(await request.serializingData().response.error?.isSessionDeinitializedError == true)
        await recorder.until("didFinish")
        #expect(recorder.all("didCompleteTask").count == 1 && recorder.all("didFinish").count == 1)
        // The session that reports the end has the parts of the released one.
        #expect(request.session.rootQueue === rootQueue && request.session.session === foundation)
    }

    /// A URL request that counts how often it is made.
    private struct Counted: URLRequestConvertible {
        let calls: Calls<String>

        func asURLRequest() throws -> URLRequest {
            calls.add("made")
            return try URLRequest(url: "http://127.0.0.1:1/x", method: .get)
        }
    }

    /// A session with a stopped queue for the preparation of requests.
    private func stopped(
        _ setup: Session.RequestSetup, _ queue: DispatchQueue, _ recorder: EventRecorder, _ adapter: HeaderAdapter
    ) -> Session {
        queue.suspend()
        return Session(requestSetup: setup, requestQueue: queue, interceptor: adapter, eventMonitors: [recorder])
    }

    @Test(arguments: [Session.RequestSetup.lazy, .eager])
    func aRequestThatIsCancelledWhileItsPreparationIsQueuedRunsNoCodeOfTheProgram(setup: Session.RequestSetup)
        async throws
    {
        let (queue, recorder) = (DispatchQueue(label: "test.requests"), EventRecorder())
        let (calls, adapter) = (Calls<String>(), HeaderAdapter("X-A", "1"))
        let session = stopped(setup, queue, recorder, adapter)
        let request = session.request(Counted(calls: calls))
        request.resume().cancel()
        await request.reaches(.cancelled(.over))
        queue.resume()
        await queue.passed()
        #expect(calls.all.isEmpty && adapter.calls == 0 && request.requests.isEmpty)
        await recorder.queue.passed()
        #expect(recorder.names.last == "didFinish")
        withExtendedLifetime(session) {}
    }

    @Test func anEagerRequestWhosePreparationIsQueuedRunsNoCodeOfTheProgramAfterItsSession() async throws {
        let (queue, recorder) = (DispatchQueue(label: "test.requests"), EventRecorder())
        let (calls, adapter) = (Calls<String>(), HeaderAdapter("X-A", "1"))
        func queued() -> DataRequest { stopped(.eager, queue, recorder, adapter).request(Counted(calls: calls)) }
        let request = queued()
        await request.reaches(.finished)
        queue.resume()
        await queue.passed()
        #expect(calls.all.isEmpty && adapter.calls == 0 && request.requests.isEmpty)
        #expect(request.error?.isSessionDeinitializedError == true)
    }

    @Test func anEagerRequestThatWasStartedKeepsItsSession() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.stall(after: 0)])
            func held() async throws -> DataTask<String> {
                let session = eager()
                let task = session.request(server.url("/x")).serializingString()
                try await server.waitForHeld(1)
                withExtendedLifetime(session) {}
                return task
            }
            let task = try await held()
            server.release()
            #expect(try await task.value == "x")
        }
    }

    @Test func aSessionKnowsItsEagerRequestsBeforeTheirStart() async throws {
        let session = eager()
        let request = session.request("http://127.0.0.1:1/x")
        let known = await withCheckedContinuation { continuation in
            session.withAllRequests { continuation.resume(returning: $0.contains(request)) }
        }
        #expect(known)
        request.cancel()
        withExtendedLifetime(session) {}
    }

    // MARK: Started by the first handler, or not

    @Test(arguments: [true, false])
    func aRequestMayDifferFromItsSessionInWhoStartsIt(starts: Bool) async throws {
        let folder = try TemporaryFolder("resume")
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.acceptUploads("/up")
            let session = makeSession(folder, starts: !starts)
            let url = server.url("/x")
            let file = URL(fileURLWithPath: try folder.write("body", to: "body"))
            let requests: [Request] = [
                session.request(url, shouldAutomaticallyResume: starts).response(queue: testQueue) { _ in },
                session.request(url, parameters: ["a": "b"], shouldAutomaticallyResume: starts)
                    .response(queue: testQueue) { _ in },
                session.request(URLRequest(url: URL(string: url)!), shouldAutomaticallyResume: starts)
                    .response(queue: testQueue) { _ in },
                session.streamRequest(url, shouldAutomaticallyResume: starts)
                    .responseStream(on: testQueue) { _ in },
                session.download(url, shouldAutomaticallyResume: starts).response(queue: testQueue) { _ in },
                session.download(resumingWith: Data(), shouldAutomaticallyResume: starts)
                    .response(queue: testQueue) { _ in },
                session.upload(Data("x".utf8), to: server.url("/up"), shouldAutomaticallyResume: starts)
                    .response(queue: testQueue) { _ in },
                session.upload(file, to: server.url("/up"), shouldAutomaticallyResume: starts)
                    .response(queue: testQueue) { _ in },
                session.upload(
                    multipartFormData: { $0.append(Data("x".utf8), withName: "x") }, to: server.url("/up"),
                    shouldAutomaticallyResume: starts
                ).response(queue: testQueue) { _ in },
            ]
            #expect(requests.allSatisfy { $0.shouldAutomaticallyResume == starts })
            #expect(requests.allSatisfy { $0.isInitialized != starts })
            for request in requests { request.resume() }
            for request in requests { await request.reaches(.finished) }
        }
    }

    @Test func aRequestThatSaysNothingFollowsItsSession() {
        #expect(makeSession().request("http://127.0.0.1:1/x").shouldAutomaticallyResume == nil)
    }

    // MARK: Sessions of one's own

    private final class Redirecting: Session, @unchecked Sendable {  // This class has no state of its own.
        override func request(
            _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
            shouldAutomaticallyResume: Bool? = nil
        ) -> DataRequest {
            var request = try? convertible.asURLRequest()
            request?.headers.add(name: "X-Own", value: "1")
            return super.request(request ?? URLRequest(url: URL(string: "http://127.0.0.1:1")!))
        }
    }

    /// A session of an SDK, which adds an interceptor to those of the program and has a `URLSession` of its own.
    private final class OfAnSDK: Session, @unchecked Sendable {  // This class has no state of its own.
        init?(configuration: URLSessionConfiguration = .af.default, interceptor: Interceptor? = nil) {
            let all: [(any RequestInterceptor)?] = [HeaderAdapter("X-A", "sdk"), interceptor]
            let delegate = SessionDelegate()
            super.init(
                session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil),
                delegate: delegate, rootQueue: DispatchQueue(label: "test.sdk.root"), startRequestsImmediately: false,
                interceptor: Interceptor(interceptors: all.compactMap { $0 }))
        }
    }

    @Test func aSubclassMayBeMadeOfAURLSession() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.add(name: "X-Own", value: "1")
            let session = try #require(OfAnSDK(configuration: configuration))
            #expect(session.rootQueue.label == "test.sdk.root" && !session.startRequestsImmediately)
            #expect(session.session.delegate === session.delegate)
            let request = session.request(server.url("/x"))
            async let text = request.serializingString().value
            request.resume()
            #expect(try await text == "x")
            #expect(server.requests.map { [$0.headers["X-A"], $0.headers["X-Own"]] } == [["sdk", "1"]])
        }
    }

    /// Every form of a request goes through the method that takes a URL request.
    @Test func aSubclassMayMakeItsRequestsItself() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = Redirecting(SessionSettings())
            _ = await session.request(server.url("/x")).serializingString().response
            _ = await session.request(server.url("/x"), parameters: ["a": 1], encoder: .urlEncodedForm)
                .serializingString().response
            #expect(server.requests.map { $0.headers["X-Own"] } == ["1", "1"])
        }
    }
}
