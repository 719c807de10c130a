import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Programs depend on the order of events, for example for logs, activity indicators and traces.
@Suite("The order of events for monitors", .timeLimit(.minutes(1)))
struct EventMonitorTests {
    static let prepared = ["didResume", "didCreateInitialURLRequest", "didCreateURLRequest"]
    static let started = ["didCreateTask", "didResumeTask"]
    static let completed = ["didFinishCollectingMetrics", "didGatherMetrics", "didComplete", "didCompleteTask"]

    static let validated = [
        "didFinishCollectingMetrics", "didGatherMetrics", "didComplete", "didValidate", "didValidate",
        "didCompleteTask",
    ]

    @Test func ofARequestThatSucceeds() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            recorder.session().request(server.url("/x")).validate().responseString(queue: testQueue) { _ in }
            await recorder.until("didParse String")
            #expect(
                recorder.story == Self.prepared + Self.started + ["didReceiveResponse", "didReceiveData"]
                    + Self.validated + ["didFinish", "didParse String"])
            #expect(recorder.all("didReceiveResponse").map(\.detail) == ["200"])
            #expect(recorder.all("didReceiveData").map(\.detail).joined() == "body")
            #expect(recorder.all("didParse String").map(\.detail) == ["success"])
            #expect(recorder.all("didCompleteTask").map(\.detail) == [""])
            #expect(recorder.misplaced == 0)
        }
    }

    @Test func ofARequestWhoseServerIsNotThere() async throws {
        let gone = try await withTestServer { $0.url("/x") }
        let recorder = EventRecorder()
        recorder.session().request(gone).response(queue: testQueue) { _ in }
        await recorder.until("didParseResponse")
        #expect(
            recorder.story == Self.prepared + Self.started + Self.completed + ["didFinish", "didParseResponse"])
        #expect(recorder.all("didComplete").map(\.detail) == ["\(URLError.Code.cannotConnectToHost.rawValue)"])
        #expect(recorder.all("didCompleteTask").map(\.detail) == ["failure"])
        #expect(recorder.all("didParseResponse").map(\.detail) == ["failure"])
    }

    @Test func ofARequestThatCannotBeMade() async throws {
        let recorder = EventRecorder()
        recorder.session().request("http://[broken").response(queue: testQueue) { _ in }
        await recorder.until("didParseResponse")
        #expect(recorder.names == ["didResume", "didFailToCreateURLRequest", "didFinish", "didParseResponse"])
    }

    @Test func ofARequestThatIsAdapted() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            let session = recorder.session { $0.interceptor = HeaderAdapter("X-A", "new") }
            session.request(server.url("/x"), headers: ["X-A": "old"]).response(queue: testQueue) { _ in }
            await recorder.until("didFinish")
            #expect(
                Array(recorder.names.prefix(5)) == [
                    "didResume", "didCreateInitialURLRequest", "didAdapt", "didCreateURLRequest", "didCreateTask",
                ])
            #expect(recorder.all("didCreateInitialURLRequest").map(\.detail) == ["old"])
            #expect(recorder.all("didAdapt").map(\.detail) == ["old old,new"])
            #expect(recorder.all("didCreateURLRequest").map(\.detail) == ["old,new"])
        }
    }

    @Test func ofARequestThatAnAdapterRefuses() async throws {
        let recorder = EventRecorder()
        let session = recorder.session { settings in
            settings.interceptor = Adapter { _, _, completion in completion(.failure(TestFailure())) }
        }
        session.request("http://127.0.0.1/x").response(queue: testQueue) { _ in }
        await recorder.until("didParseResponse")
        #expect(
            recorder.names == [
                "didResume", "didCreateInitialURLRequest", "didFailToAdapt", "didFinish", "didParseResponse",
            ])
    }

    @Test func ofARequestThatIsRetried() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            server.script("/x", [.resetBeforeHead])
            let recorder = EventRecorder()
            let session = recorder.session { settings in
                settings.interceptor = Retrier { request, _, _, completion in
                    completion(request.retryCount == 0 ? .retry : .doNotRetry)
                }
            }
            session.request(server.url("/x")).response(queue: testQueue) { _ in }
            await recorder.until("didParseResponse")
            let made = ["didCreateInitialURLRequest", "didAdapt", "didCreateURLRequest"] + Self.started
            #expect(
                recorder.story == ["didResume"] + made + Self.completed + ["isRetrying"] + made
                    + ["didReceiveResponse", "didReceiveData"] + Self.completed + ["didFinish", "didParseResponse"])
            #expect(recorder.all("didCompleteTask").map(\.detail) == ["failure", ""])
            #expect(recorder.all("isRetrying").map(\.detail) == ["1"])
            #expect(recorder.all("didCreateTask").map(\.detail) == ["1", "2"])
        }
    }

    @Test func ofARequestThatIsSuspendedAndResumed() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            server.script("/x", [.holdHead])
            let recorder = EventRecorder()
            let request = recorder.session().request(server.url("/x")).response(queue: testQueue) { _ in }
            try await server.waitForHeld(1)
            request.suspend().suspend()
            request.resume().resume()
            server.release()
            await recorder.until("didParseResponse")
            #expect(
                recorder.story == Self.prepared + Self.started
                    + ["didSuspend", "didSuspendTask", "didResume", "didResumeTask"]
                    + ["didReceiveResponse", "didReceiveData"] + Self.completed + ["didFinish", "didParseResponse"])
        }
    }

    @Test func ofARequestThatIsCancelled() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let recorder = EventRecorder()
            let request = recorder.session().request(server.url("/x")).response(queue: testQueue) { _ in }
            try await server.waitForHeld(1)
            request.cancel().cancel()
            await recorder.until("didParseResponse")
            #expect(
                recorder.story == Self.prepared + Self.started + ["didCancel", "didCancelTask"] + Self.completed
                    + ["didFinish", "didParseResponse"])
            #expect(recorder.all("didComplete").map(\.detail) == ["\(URLError.Code.cancelled.rawValue)"])
        }
    }

    @Test func ofARequestThatIsCancelledBeforeItStarts() async throws {
        let recorder = EventRecorder()
        recorder.session { $0.startRequestsImmediately = false }.request("http://127.0.0.1/x").response(
            queue: testQueue
        ) { _ in }.cancel()
        await recorder.until("didParseResponse")
        #expect(recorder.names == ["didCancel", "didFinish", "didParseResponse"])
    }

    @Test(arguments: [false, true])
    func aHandlerThatComesLateIsNoSecondEnd(isCancelled: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            let request = recorder.session().request(server.url("/x"))
            if isCancelled { request.cancel() }
            request.response(queue: testQueue) { _ in }
            await recorder.until("didFinish")
            request.responseData(queue: testQueue) { _ in }
            await recorder.until("didParse Data")
            _ = await request.response()
            await recorder.queue.passed()
            #expect(recorder.all("didFinish").count == 1)
            #expect(recorder.all("didResume").count == (isCancelled ? 0 : 1))
        }
    }

    @Test func ofARedirect() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 307))
            server.serve("/b", .text("there"))
            let recorder = EventRecorder()
            recorder.session().request(server.url("/a")).response(queue: testQueue) { _ in }
            await recorder.until("didParseResponse")
            #expect(
                recorder.story == Self.prepared + Self.started
                    + ["willPerformHTTPRedirection", "didReceiveResponse", "didReceiveData"] + Self.completed
                    + ["didFinish", "didParseResponse"])
            #expect(recorder.all("willPerformHTTPRedirection").map(\.detail) == ["307 /b"])
            #expect(recorder.all("didFinishCollectingMetrics").map(\.detail) == ["2"])
        }
    }

    @Test func ofAnUpload() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in")
            let recorder = EventRecorder()
            recorder.session().upload(Data(count: 70_000), to: server.url("/in")).response(queue: testQueue) { _ in }
            await recorder.until("didParseResponse")
            #expect(
                recorder.story == Self.prepared + ["didCreateUploadable"] + Self.started + ["didReceiveResponse"]
                    + Self.completed + ["didFinish", "didParseResponse"])
            let sent = recorder.all("didSendBodyData")
            #expect(sent.map(\.bytes).reduce(0, +) == 70_000)
            #expect(sent.last?.sum == 70_000)
            #expect(sent.allSatisfy { $0.total == 70_000 && $0.bytes >= 0 })
        }
    }

    @Test func ofAnUploadFromAStream() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in")
            let recorder = EventRecorder()
            recorder.session().upload(InputStream(data: Data(count: 5000)), to: server.url("/in"))
                .response(queue: testQueue) { _ in }
            await recorder.until("didParseResponse")
            #expect(
                recorder.story == Self.prepared + ["didCreateUploadable", "didProvideInputStream"] + Self.started
                    + ["didReceiveResponse"] + Self.completed + ["didFinish", "didParseResponse"])
            #expect(recorder.all("didSendBodyData").last?.sum == 5000)
            #expect(recorder.all("didSendBodyData").last?.total == -1)
        }
    }

    @Test func ofAnUploadWhoseFileIsNotThere() async throws {
        let recorder = EventRecorder()
        recorder.session().upload(URL(fileURLWithPath: "/nowhere/x"), to: "http://127.0.0.1/in")
            .response(queue: testQueue) { _ in }
        await recorder.until("didParseResponse")
        #expect(
            recorder.names == Self.prepared + [
                "didCreateUploadable", "didFailToCreateUploadable", "didFinish", "didParseResponse",
            ])
    }

    /// The progress of an attempt counts the bytes of that attempt only.
    @Test func progressOfAnUploadThatIsRetriedStartsAgain() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in")
            server.script("/in", [.loseAnswer])
            let recorder = EventRecorder()
            let session = recorder.session {
                $0.interceptor = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            }
            session.upload(Data(count: 40_000), to: server.url("/in")).response(queue: testQueue) { _ in }
            await recorder.until("didFinish")
            #expect(recorder.all("isRetrying").count == 1)
            let sent = recorder.all("didSendBodyData")
            #expect(sent.allSatisfy { $0.bytes >= 0 && $0.bytes <= $0.sum })
            #expect(sent.map(\.bytes).reduce(0, +) == 80_000)
        }
    }

    @Test func ofAFreshStreamForARetry() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in")
            server.script("/in", [.loseAnswer])
            let recorder = EventRecorder()
            let session = recorder.session { settings in
                settings.interceptor = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            }
            session.upload(streamedBy: { InputStream(data: Data("again".utf8)) }, to: server.url("/in"))
                .response(queue: testQueue) { _ in }
            await recorder.until("didFinish")
            #expect(sink.uploads.map(\.bytes) == [Array("again".utf8), Array("again".utf8)])
            #expect(recorder.all("taskNeedsNewBodyStream").count == 1)
            let later = recorder.story.drop { $0 != "isRetrying" }
            #expect(later.contains("taskNeedsNewBodyStream"))
        }
    }

    @Test func ofADownload() async throws {
        let folder = try TemporaryFolder("monitor")
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 90_000))
            let target = URL(fileURLWithPath: folder.path("there"))
            let recorder = EventRecorder()
            let session = recorder.session { $0.temporaryFolder = folder.path }
            session.download(server.url("/x"), to: { _, _ in (target, []) }).validate()
                .responseURL(queue: testQueue) { _ in }
            await recorder.until("didParse URL")
            #expect(
                recorder.story == Self.prepared + Self.started
                    + ["didCreateDestinationURL", "didFinishDownloadingTo", "didFinishDownloading"] + Self.validated
                    + ["didFinish", "didParse URL"])
            #expect(recorder.all("didCreateDestinationURL").map(\.detail) == [target.path])
            #expect(recorder.all("didFinishDownloadingTo").first?.detail.hasPrefix(folder.path) == true)
            #expect(recorder.all("didFinishDownloadingTo").first?.detail != target.path)
            let written = recorder.all("didWriteData")
            #expect(written.map(\.bytes).reduce(0, +) == 90_000)
            #expect(written.last?.sum == 90_000)
            #expect(written.last?.total == 90_000)
        }
    }

    @Test func eventsOfAResumedDownload() async throws {
        let folder = try TemporaryFolder("monitor")
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 400_000), etag: "\"a\"")
            server.script("/x", [.cut(after: 300_000)])
            let recorder = EventRecorder()
            let session = recorder.session { settings in
                settings.temporaryFolder = folder.path
                settings.interceptor = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            }
            session.download(server.url("/x")).responseURL(queue: testQueue) { _ in }
            await recorder.until("didFinish")
            let resumed = recorder.all("didResumeAtOffset")
            #expect(resumed.map(\.total) == [400_000])
            #expect(resumed.allSatisfy { $0.sum > 0 && $0.sum <= 300_000 })
            let written = recorder.all("didWriteData")
            #expect(written.allSatisfy { $0.bytes >= 0 })
            #expect(written.last?.sum == 400_000)
            #expect(written.map(\.bytes).reduce(0, +) == 400_000)
        }
    }

    @Test func ofAStream() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            recorder.session().streamRequest(server.url("/x")).validate()
                .responseStreamDecodable(of: Greeting.self, on: testQueue) { _ in }
            await recorder.until("didFinish")
            // A serializer reports its pieces on another queue than the end of the transfer.
            let network = recorder.story.filter { !$0.hasPrefix("didParseStream") }
            #expect(
                network == Self.prepared + Self.started + ["didReceiveResponse", "didReceiveData"] + Self.validated
                    + ["didFinish"])
            // Events before the end are not awaited again.
            if recorder.all("didParseStream Greeting").isEmpty { await recorder.until("didParseStream Greeting") }
            #expect(recorder.all("didParseStream Greeting").map(\.detail) == ["failure"])
        }
    }

    @Test func everyMonitorIsCalledOnItsOwnQueue() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let (first, second) = (EventRecorder(label: "first"), EventRecorder(label: "second"))
            let session = first.session { $0.eventMonitors.append(second) }
            session.request(server.url("/x")).response(queue: testQueue) { _ in }
            // The last event: a response is serialized once its request has ended.
            await first.until("didParseResponse")
            await second.until("didParseResponse")
            #expect(first.story == second.story)
            #expect(first.misplaced == 0)
            #expect(second.misplaced == 0)
        }
    }

    @Test func aBlockedMonitorDoesNotDelayOthers() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            recorder.queue.suspend()
            let text = try await recorder.session().request(server.url("/x")).serializingString().value
            #expect(text == "body")
            #expect(recorder.names.isEmpty)
            recorder.queue.resume()
            await recorder.until("didFinish")
            #expect(recorder.names.first == "didResume")
        }
    }

    @Test func theSessionsEndIsReportedLast() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let recorder = EventRecorder()
            _ = try await recorder.session().request(server.url("/x")).serializingData().value
            let end = await recorder.until("didBecomeInvalid")
            #expect(end?.detail == "")
            #expect(recorder.events.all.last?.name == "didBecomeInvalid")
            #expect(recorder.all("didFinish").count == 1)
        }
    }

    @Test func aSessionWithoutMonitorsReportsToNone() {
        let session = makeSession()
        #expect(!session.isObserved)
        #expect(session.eventMonitor.monitors.map { $0 is AlamofireNotifications } == [true])
        #expect(EventRecorder().session().eventMonitor.monitors.count == 1)
    }
}

extension DispatchQueue {
    /// Waits until the earlier work of the queue is done.
    func passed() async {
        await withCheckedContinuation { continuation in async { continuation.resume() } }
    }
}
