import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Settings and observation of one request", .timeLimit(.minutes(1)))
struct RequestCustomizationTests {
    @Test func adaptersOfARequestComeInOrderAndAfterTheSessions() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession(interceptor: HeaderAdapter("X-Order", "session"))
            let text = try await session.request(server.url("/x"), interceptor: HeaderAdapter("X-Order", "init"))
                .adapt(using: HeaderAdapter("X-Order", "first"))
                .interceptor(HeaderAdapter("X-Order", "second"))
                .serializingString().value
            #expect(text == "x")
            #expect(server.requests.map { $0.headers["X-Order"] } == ["session,init,first,second"])
        }
    }

    @Test func aRetrierOfARequestIsAskedAfterTheSessions() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503), .status(503)])
            let asked = Calls<String>()
            let session = makeSession(
                interceptor: ClosureRetrier { request, _ in
                    asked.add("session")
                    return request.retryCount == 0 ? .retry : .doNotRetry
                })
            let retrier = ClosureRetrier { _, _ in
                asked.add("request")
                return .retry
            }
            let text = try await session.request(server.url("/x")).retry(using: retrier).validate()
                .serializingString().value
            #expect(text == "x")
            #expect(asked.all == ["session", "session", "request"])
        }
    }

    @Test func aRequestsMonitorReceivesOnlyItsEventsAfterTheSessions() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let (own, shared) = (EventRecorder(), EventRecorder())
            var settings = SessionSettings()
            settings.loops = 1
            settings.eventMonitors = [shared]
            let session = Session(settings)
            let request = session.request(server.url("/x")).eventMonitor(own)
            _ = await request.serializingString().response
            await own.until("didParse String")
            await shared.until("didParse String")
            #expect(own.story == shared.story)
            #expect(own.story.contains("didCompleteTask"))
            _ = await session.request(server.url("/x")).serializingString().response
            await shared.until("didFinish")
            await own.queue.passed()
            #expect(own.all("didFinish").count == 1)
            #expect((request.eventMonitor as? CompositeEventMonitor)?.monitors.count == 2)
        }
    }

    @Test func aRequestsMonitorWorksWithoutAMonitorOfTheSession() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let own = EventRecorder()
            _ = await makeSession().request(server.url("/x")).eventMonitor(own).serializingString().response
            await own.until("didFinish")
            #expect(own.story.first == "didResume")
            #expect(own.story.contains("didReceiveData"))
        }
    }

    // MARK: Its look at itself

    @Test func aRequestShowsWhatItWasGiven() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession(starts: false)
            let request = session.request(server.url("/x"))
            #expect(request.interceptor == nil && request.credential == nil && request.redirectHandler == nil)
            #expect(request.cachedResponseHandler == nil && request.uploadProgressHandler == nil)
            #expect(request.underlyingQueue === session.rootQueue)
            #expect(request.serializationQueue === session.serializationQueue)
            #expect(request.delegate === session)
            let adapter = HeaderAdapter("X-A", "1")
            request.interceptor(adapter).authenticate(username: "u", password: "p")
                .redirect(using: Redirector.doNotFollow).cacheResponse(using: ResponseCacher.doNotCache)
                .uploadProgress(queue: testQueue) { _ in }.downloadProgress(queue: testQueue) { _ in }
            #expect(request.interceptor as? HeaderAdapter === adapter)
            #expect(request.credential?.user == "u" && request.credential?.password == "p")
            #expect(request.redirectHandler is Redirector)
            #expect(request.cachedResponseHandler is ResponseCacher)
            #expect(request.uploadProgressHandler?.queue === testQueue)
            #expect(request.downloadProgressHandler?.queue === testQueue)
            #expect(request.performedRequests.isEmpty)
            let task = request.serializingString()
            request.resume()
            _ = await task.response
            #expect(request.performedRequests.map { $0.url?.absoluteString } == [server.url("/x")])
            #expect(request.performedRequests.first?.value(forHTTPHeaderField: "X-A") == "1")
        }
    }

    @Test func smallNamesAreThere() {
        #expect(AFInfo.version.split(separator: ".").count == 3)
        #expect(Set([Empty.value, Empty()]).count == 1)
        let session = makeSession()
        #expect(session.defaultEventMonitors.map { $0 is AlamofireNotifications } == [true])
        #expect(session.eventMonitor.monitors.map { $0 is AlamofireNotifications } == [true])
    }

    /// The methods of the protocol do what their names say, also if called directly.
    @Test func aSessionIsTheDelegateOfItsRequests() async throws {
        let session = makeSession(starts: false)
        let delegate: any RequestDelegate = session
        #expect(!delegate.startImmediately)
        let asked = Calls<RetryResult>()
        let request = session.request(
            "http://127.0.0.1:1/x", interceptor: ClosureRetrier { _, _ in .doNotRetryWithError(TestFailure()) })
        delegate.retryResult(for: request, dueTo: .explicitlyCancelled) { asked.add($0) }
        guard case .doNotRetryWithError? = await asked.first() else { return #expect(Bool(false), "not asked") }
        delegate.readyToPerform(request: request)
        await request.reaches(.active(.initialized, .prepared))
        #expect(request.firstRequest?.url?.path == "/x")
        delegate.retryRequest(request, withDelay: nil)
        #expect(request.isInitialized)
        request.cancel()
        delegate.cleanup(after: request)
    }

    @Test func aTaskOfResumeDataContinuesTheDownload() async throws {
        let folder = try TemporaryFolder("resume")
        try await withTestServer { server async throws in
            let body = Content.random(seed: 5, count: 200_000)
            server.serve("/x", body, etag: "\"1\"")
            server.script("/x", [.cut(after: 100_000)])
            let session = makeSession(folder)
            let target = URL(fileURLWithPath: folder.path("x.bin"))
            let download = session.download(server.url("/x"), to: DownloadRequest.destination(target))
            let data = try #require(await download.serializingDownloadedFileURL().response.resumeData)
            let task = download.task(forResumeData: data, using: session.session)
            #expect(task.state == .suspended && task is URLSessionDownloadTask)
            #expect(task.originalRequest?.url?.absoluteString == server.url("/x"))
            task.resume()
            let limit = ContinuousClock.now + .seconds(10)
            while task.state != .completed, .now < limit { await Task.yield() }
            #expect(try Data(contentsOf: target) == Data(body.bytes()))
        }
    }

    @Test func anUploadsTemporaryFileCanBeRemovedByHand() async throws {
        let folder = try TemporaryFolder("cleanup")
        try await withTestServer { server async throws in
            server.script("/up", [.holdHead])
            let file = URL(fileURLWithPath: try folder.write("body", to: "body.txt"))
            let upload = makeSession(folder).upload(
                multipartFormData: { $0.append(file, withName: "file") }, to: server.url("/up"), usingThreshold: 0)
            let task = upload.serializingString()
            try await server.waitForHeld(1)
            guard case .file(let temporary, _)? = upload.uploadable else { return #expect(Bool(false), "no file") }
            #expect(FileManager.default.fileExists(atPath: temporary.path))
            upload.cleanup()
            #expect(!FileManager.default.fileExists(atPath: temporary.path))
            upload.cancel()
            _ = await task.response
        }
    }

    // MARK: Notifications

    @Test func eventsOfARequestArePostedAsNotifications() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.holdHead])
            let request = makeSession(starts: false).request(server.url("/x"))
            let posted = Calls<String>()
            let names: [(Notification.Name, String)] = [
                (Request.didResumeNotification, "resume"), (Request.didSuspendNotification, "suspend"),
                (Request.didCancelNotification, "cancel"), (Request.didFinishNotification, "finish"),
                (Request.didResumeTaskNotification, "resume task"),
                (Request.didSuspendTaskNotification, "suspend task"),
                (Request.didCancelTaskNotification, "cancel task"),
                (Request.didCompleteTaskNotification, "complete task"),
            ]
            let observers = names.map { name, text in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                    if notification.request === request { posted.add(text) }
                }
            }
            let task = request.serializingString()
            request.resume()
            try await server.waitForHeld(1)
            request.suspend()
            request.cancel()
            _ = await task.response
            _ = await posted.first { $0 == "finish" }
            for observer in observers { NotificationCenter.default.removeObserver(observer) }
            #expect(Set(posted.all) == Set(names.map(\.1)))
            #expect(posted.all.count == 8)
            #expect(posted.all.first == "resume" && posted.all.last == "finish")
        }
    }
}
