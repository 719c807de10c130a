import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Requests and sessions are freed once they are unused, however they ended.
@Suite("Requests and sessions are freed")
struct LeakTests {
    /// Observes objects without keeping them alive.
    private final class Watch: Sendable {
        private struct Entry: Sendable {
            weak var object: (any AnyObject & Sendable)?
            let name: String
        }
        private let entries = Mutex<[Entry]>([])

        func add(_ object: some AnyObject & Sendable, _ name: String) {
            entries.withLock { $0.append(Entry(object: object, name: name)) }
        }

        var left: [String] { entries.withLock { $0.filter { $0.object != nil }.map(\.name) } }
    }

    /// Runs `body`, and expects that its session and requests are freed soon after it.
    private func expectGone(
        _ change: (inout SessionSettings) -> Void = { _ in }, location: SourceLocation = #_sourceLocation,
        _ body: (TestServer, Session, _ keep: @Sendable (Request) -> Void) async throws -> Void
    ) async throws {
        let watch = Watch()
        let folder = try TemporaryFolder("leak")
        var settings = SessionSettings()
        settings.loops = 1
        settings.temporaryFolder = folder.path
        change(&settings)
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"), etag: "\"1\"")
            server.acceptUploads("/in", keepsBytes: false)
            // The session's last reference outside of it ends with this scope.
            func scope() async throws {
                let session = Session(settings)
                watch.add(session, "the session")
                try await body(server, session) { watch.add($0, "\(type(of: $0)) \($0.state)") }
            }
            try await scope()
            await soon(location) { watch.left.isEmpty }
            #expect(watch.left == [], sourceLocation: location)
        }
    }

    /// Waits a bounded time for pending work of other threads.
    private func soon(_ location: SourceLocation, _ isTrue: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(5)
        while !isTrue(), ContinuousClock.now < end { await Task.yield() }
    }

    // MARK: Finished

    @Test func afterTheirEnd() async throws {
        try await expectGone { server, session, keep async throws in
            let url = server.url("/x")
            let data = session.request(url).validate()
            keep(data)
            #expect(try await data.serializingString().value == "x")
            let download = session.download(url).validate()
            keep(download)
            _ = try await download.serializingDownloadedFileURL().value
            let upload = session.upload(Data(count: 100_000), to: server.url("/in"))
            keep(upload)
            _ = await upload.response()
            let streamed = session.upload(streamedBy: { InputStream(data: Data(count: 9)) }, to: server.url("/in"))
            keep(streamed)
            _ = await streamed.response()
            let form = session.upload(
                multipartFormData: { $0.append(Data("v".utf8), withName: "n") }, to: server.url("/in"),
                usingThreshold: 0)
            keep(form)
            _ = await form.response()
            let stream = session.streamRequest(url)
            keep(stream)
            for await _ in stream.streamTask().streamingData() {}
            let read = session.streamRequest(url)
            keep(read)
            let input = try #require(read.asInputStream())
            input.open()
            var byte: UInt8 = 0
            while input.read(&byte, maxLength: 1) > 0 {}
        }
    }

    @Test func withClosuresThatNameTheRequest() async throws {
        try await expectGone { server, session, keep async throws in
            let request = session.request(server.url("/x"))
            keep(request)
            let calls = Calls<Int>()
            // Handlers are released after their call, so they may capture any object.
            request.responseString(queue: testQueue) { response in
                calls.add(response.value == "x" && request.isFinished ? 1 : 0)
            }
            #expect(await calls.first() == 1)
        }
    }

    @Test func withTasksMetricsAndEverythingLookedAt() async throws {
        try await expectGone { server, session, keep async throws in
            let request = session.request(server.url("/x"))
            keep(request)
            _ = await request.response()
            #expect(request.tasks.count == 1)
            #expect(request.metrics != nil)
            #expect(request.response != nil)
            _ = (request.task, request.cURLDescription(), request.id, request.downloadProgress, session.session)
        }
    }

    // MARK: Failed, retried

    @Test func afterAFailure() async throws {
        try await expectGone { server, session, keep async throws in
            server.script("/x", [], afterwards: .closeBeforeHead)
            let url = server.url("/x")
            for request in [session.request(url), session.request("http://"), session.request(url).validate()] {
                keep(request)
                #expect(await request.response().error != nil)
            }
            let download = session.download(url)
            keep(download)
            #expect(await download.serializingDownloadedFileURL().response.error != nil)
            let upload = session.upload(URL(fileURLWithPath: "/nowhere"), to: server.url("/in"))
            keep(upload)
            #expect(await upload.response().error != nil)
            let stream = session.streamRequest(url)
            keep(stream)
            for await _ in stream.streamTask().streamingData() {}
        }
    }

    @Test func afterRetries() async throws {
        let change = { @Sendable (settings: inout SessionSettings) in
            settings.interceptor = RetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.001)
        }
        try await expectGone(change) { server, session, keep async throws in
            server.script("/x", [.closeBeforeHead, .status(503), .cut(after: 0)])
            let request = session.request(server.url("/x")).validate()
            keep(request)
            #expect(try await request.serializingString().value == "x")
            #expect(request.retryCount == 3)
            server.script("/x", [], afterwards: .status(503))
            let hopeless = session.download(server.url("/x")).validate()
            keep(hopeless)
            #expect(await hopeless.serializingDownloadedFileURL().response.error != nil)
            #expect(hopeless.retryCount == 3)
        }
    }

    @Test func cancelledWhileWaitingToRetry() async throws {
        let asked = Calls<Void>()
        let change = { @Sendable (settings: inout SessionSettings) in
            settings.interceptor = ClosureRetrier { _, _ in
                asked.add(())
                return .retryWithDelay(0.3)
            }
        }
        try await expectGone(change) { server, session, keep async throws in
            server.script("/x", [], afterwards: .status(503))
            let request = session.request(server.url("/x")).validate()
            keep(request)
            let task = request.serializingData()
            _ = await asked.first()
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }

    // MARK: Never started, dropped

    @Test func neverStarted() async throws {
        try await expectGone { server, session, keep async throws in
            keep(session.request(server.url("/x")))
            keep(session.download(server.url("/x")))
            keep(session.upload(Data(), to: server.url("/in")))
            keep(session.streamRequest(server.url("/x")))
            keep(session.request(server.url("/x")).validate().onHTTPResponse { _ in })
            _ = session.request(server.url("/x")).cURLDescription()
        }
    }

    @Test func preparedEagerlyAndDropped() async throws {
        try await expectGone({ $0.requestSetup = .eager }) { server, session, keep async throws in
            keep(session.request(server.url("/x")))
            keep(session.download(server.url("/x")))
            keep(session.upload(Data(count: 9), to: server.url("/in")))
            let request = session.request(server.url("/x"))
            keep(request)
            #expect(try await request.serializingString().value == "x")
        }
    }

    @Test func suspendedBeforeTheStartAndDropped() async throws {
        try await expectGone { server, session, keep async throws in
            keep(session.request(server.url("/x")).suspend())
            keep(session.download(server.url("/x")).suspend())
        }
    }

    @Test func neverStartedWithAHandlerWhereTheProgramStartsRequests() async throws {
        try await expectGone({ $0.startRequestsImmediately = false }) { server, session, keep async throws in
            keep(session.request(server.url("/x")).response(queue: testQueue) { _ in })
            keep(session.download(server.url("/x")).response(queue: testQueue) { _ in })
        }
    }

    /// Only the session still refers to the request, and cancels it.
    @Test func suspendedHalfWayDroppedAndCancelledThroughTheSession() async throws {
        try await expectGone { server, session, keep async throws in
            server.script("/x", [.stall(after: 0)], afterwards: .stall(after: 0))
            do {
                let request = session.request(server.url("/x"))
                keep(request)
                request.response(queue: testQueue) { _ in }
                let download = session.download(server.url("/x"))
                keep(download)
                download.response(queue: testQueue) { _ in }
                try await server.waitForHeld(2)
                request.suspend()
                download.suspend()
            }
            session.cancelAllRequests()
        }
    }

    @Test func parkedDroppedAndCancelledThroughTheSession() async throws {
        try await expectGone({ $0.suspensionLimit = .milliseconds(5) }) { server, session, keep async throws in
            server.serve("/f", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/f", [.stall(after: 50_000)])
            do {
                let there = Calls<Int64>()
                let download = session.download(server.url("/f"))
                    .downloadProgress(queue: testQueue) { there.add($0.completedUnitCount) }
                keep(download)
                download.response(queue: testQueue) { _ in }
                _ = await there.first { $0 == 50_000 }
                download.suspend()
            }
            try await server.waitForConnections(closed: 1)
            session.cancelAllRequests()
        }
    }

    // MARK: Cancelled

    @Test func cancelledAtOnceAndHalfWay() async throws {
        try await expectGone { server, session, keep async throws in
            server.script("/x", [], afterwards: .holdHead)
            server.script("/in", [.stallUpload(after: 1000)])
            keep(session.request(server.url("/x")).cancel())
            let started = session.request(server.url("/x"))
            keep(started)
            started.response(queue: testQueue) { _ in }
            started.cancel()
            let data = session.request(server.url("/x"))
            let download = session.download(server.url("/x"))
            let stream = session.streamRequest(server.url("/x"))
            let upload = session.upload(
                streamedBy: { InputStream(data: Data(count: 20_000_000)) }, to: server.url("/in"))
            for request in [data, download, stream, upload] { keep(request) }
            data.response(queue: testQueue) { _ in }
            upload.response(queue: testQueue) { _ in }
            download.response(queue: testQueue) { _ in }
            stream.responseStream(on: testQueue) { _ in }
            try await server.waitForHeld(4)
            let resumeData = Calls<Data?>()
            download.cancel { resumeData.add($0) }
            _ = await resumeData.first()
            for request in [data, stream, upload] { request.cancel() }
        }
    }

    @Test func cancelledWithAHookThatNeverAnswers() async throws {
        try await expectGone { server, session, keep async throws in
            let asked = Calls<Void>()
            let data = session.request(server.url("/x")).onHTTPResponse(on: testQueue) { _, _ in asked.add(()) }
            keep(data)
            data.response(queue: testQueue) { _ in }
            let stream = session.streamRequest(server.url("/x"))
                .onHTTPResponse(on: testQueue) { _, _ in asked.add(()) }
            keep(stream)
            stream.responseStream(on: testQueue) { _ in }
            for _ in 0..<2 { _ = await asked.first() }
            let end = data.serializingData()
            data.cancel()
            stream.cancel()
            #expect(await end.response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func cancelledWithAnAdapterThatNeverAnswers() async throws {
        struct Silence: RequestInterceptor {
            let asked: Calls<Void>
            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) { asked.add(()) }
        }
        let asked = Calls<Void>()
        try await expectGone({ $0.interceptor = Silence(asked: asked) }) { server, session, keep async throws in
            let request = session.request(server.url("/x"))
            keep(request)
            let task = request.serializingData()
            _ = await asked.first()
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func withTasksThatAreCancelled() async throws {
        try await expectGone { server, session, keep async throws in
            server.script("/x", [], afterwards: .holdHead)
            let (request, download) = (session.request(server.url("/x")), session.download(server.url("/x")))
            let stream = session.streamRequest(server.url("/x"))
            for each in [request, download, stream] { keep(each) }
            let tasks = [
                Task {
                    _ = await request.serializingData(automaticallyCancelling: true).response
                },
                Task {
                    _ = await download.serializingDownloadedFileURL(automaticallyCancelling: true).response
                },
                Task { for await _ in stream.streamTask().streamingData() {} },
            ]
            try await server.waitForHeld(3)
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
    }

    @Test func streamsWhoseLoopsEndEarly() async throws {
        try await expectGone { server, session, keep async throws in
            server.serve("/large", .random(seed: 2, count: 8_000_000))
            let stream = session.streamRequest(server.url("/large"))
            keep(stream)
            for await _ in stream.streamTask().streamingData() { break }
            let read = session.streamRequest(server.url("/large"))
            keep(read)
            do {
                let input = try #require(read.asInputStream())
                input.open()
                var byte: UInt8 = 0
                #expect(input.read(&byte, maxLength: 1) == 1)
            }
        }
    }

    // MARK: Observed

    @Test func withMonitorsHooksAndStreamsOfValues() async throws {
        let ends = Calls<Void>()
        let monitor = ClosureEventMonitor(queue: testQueue)
        monitor.requestDidFinish = { _ in ends.add(()) }
        try await expectGone({ $0.eventMonitors = [monitor] }) { server, session, keep async throws in
            let request = session.request(server.url("/x"))
                .onURLRequestCreation { _ in }.onURLSessionTaskCreation { _ in }
                .downloadProgress { _ in }.uploadProgress { _ in }
            keep(request)
            let (tasks, progress) = (request.urlSessionTasks(), request.downloadProgress())
            let looking = Task {
                for await _ in tasks {}
                for await _ in progress {}
            }
            #expect(try await request.serializingString().value == "x")
            let download = session.download(server.url("/x"))
            keep(download)
            _ = await download.serializingDownloadedFileURL().response
            for _ in 0..<2 { _ = await ends.first() }
            looking.cancel()
            await looking.value
        }
    }

    @Test func afterABurstThatIsCancelled() async throws {
        try await expectGone { server, session, keep async throws in
            for index in 0..<500 {
                let request: Request =
                    index % 2 == 0
                    ? session.request(server.url("/x")).response(queue: testQueue) { _ in }
                    : session.download(server.url("/x")).response(queue: testQueue) { _ in }
                keep(request)
                if index == 250 { session.cancelAllRequests() }
            }
            try await server.waitForRequests(20)
            session.cancelAllRequests()
        }
    }
}
