import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Cancelling and suspending at every stage of a request", .timeLimit(.minutes(1)))
struct CancelSuspendTests {
    static let undecided = Stage.allCases.filter { $0 != .settling }

    // MARK: Cancelling

    @Test(arguments: undecided)
    func cancellingEndsTheRequestWithoutWaiting(stage: Stage) async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: stage, server)
            still.request.cancel()
            #expect(still.request.isCancelled)
            #expect(still.request.error?.isExplicitlyCancelledError == true)
            #expect(await still.responses.first()?.error?.isExplicitlyCancelledError == true)
            #expect(server.requests(to: "/x").count == stage.requestsSeen)
        }
    }

    @Test(arguments: undecided)
    func eventsAfterACancellationChangeNothing(stage: Stage) async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: stage, server)
            still.request.cancel()
            _ = await still.responses.first()
            still.goOn()
            still.request.resume().suspend()
            still.request.cancel()
            try await still.settle(server)
            #expect(still.request.isCancelled)
            #expect(server.requests(to: "/x").count == stage.requestsSeen)
            #expect(still.responses.all.count == 1)
            #expect(still.request.retryCount == (stage == .waitingToRetry ? 1 : 0))
            // The request is released right after the responses are delivered.
            let limit = ContinuousClock.now + .seconds(5)
            while still.session.active.all.contains(still.request), .now < limit { await Task.yield() }
            #expect(!still.session.active.all.contains(still.request))
        }
    }

    @Test(arguments: undecided)
    func cancellingASuspendedRequestEndsIt(stage: Stage) async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: stage, server)
            still.request.suspend().cancel()
            #expect(await still.responses.first()?.error?.isExplicitlyCancelledError == true)
            #expect(still.request.isCancelled)
            #expect(server.requests(to: "/x").count == stage.requestsSeen)
        }
    }

    @Test func aCancellationThatComesWhileTheResponseIsMadeIsTooLate() async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: .settling, server)
            still.request.cancel()
            #expect(!still.request.isCancelled)
            still.goOn()
            #expect(await still.responses.first()?.value == StillRequest.body)
            #expect(still.request.isFinished)
        }
    }

    @Test func aRetryThatIsDueAndSuspendedCanBeCancelled() async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: .waitingToRetry, server, delay: 0.2)
            still.request.suspend()
            await still.request.reaches(.suspended(.retryDue))
            still.request.cancel()
            #expect(await still.responses.first()?.error?.isExplicitlyCancelledError == true)
            #expect(server.requests(to: "/x").count == 1)
        }
    }

    @Test func cancellingClosesTheConnectionOfTheTransfer() async throws {
        try await withTestServer { server async throws in
            for stage in [Stage.beforeHead, .afterHead] {
                let still = try await StillRequest(at: stage, server)
                still.request.cancel()
                try await server.waitForConnections(closed: stage == .beforeHead ? 1 : 2)
                _ = await still.responses.first()
            }
        }
    }

    @Test func aRequestCancelledInTheQueueMakesRoomForTheNext() async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: .queued, server)
            server.serve("/next", .text("next"))
            let next = still.session.request(server.url("/next")).serializingString()
            still.request.cancel()
            _ = await still.responses.first()
            still.goOn()
            #expect(try await next.value == "next")
            #expect(server.requests(to: "/x").isEmpty)
        }
    }

    @Test func aRequestCancelledOnTheWireMakesRoomForTheNext() async throws {
        try await withTestServer { server async throws in
            var settings = SessionSettings()
            settings.loops = 1
            settings.maximumConnectionsPerHost = 1
            let session = Session(settings)
            server.serve("/next", .text("next"))
            server.script("/x", [.holdHead])
            let held = session.request(server.url("/x"))
            let response = held.serializingData()
            try await server.waitForHeld(1)
            let next = session.request(server.url("/next")).serializingString()
            held.cancel()
            #expect(try await next.value == "next")
            #expect(await response.response.error?.isExplicitlyCancelledError == true)
        }
    }

    /// The timer of a retry may be due in a year.
    @Test func aRequestThatWasCancelledWhileItWaitedForItsRetryIsFreed() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(500)])
            weak var gone: DataRequest?
            let session = makeSession(interceptor: ClosureRetrier { _, _ in .retryWithDelay(3600) })
            do {
                let request = session.request(server.url("/x")).validate()
                gone = request
                let task = request.serializingData()
                await request.reaches(.resumed(.waitingToRetry))
                request.cancel()
                _ = await task.response
            }
            let limit = ContinuousClock.now + .seconds(5)
            while gone != nil, .now < limit { await Task.yield() }
            #expect(gone == nil)
            withExtendedLifetime(session) {}
        }
    }

    @Test func aRequestCanBeCancelledFromEveryClosureItCalls() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(500), .status(500)])
            typealias Configure = @Sendable (DataRequest) -> Void
            let closures: [Configure] = [
                { request in request.onURLRequestCreation(on: testQueue) { [weak request] _ in request?.cancel() } },
                { request in
                    request.onURLSessionTaskCreation(on: testQueue) { [weak request] _ in request?.cancel() }
                },
                { request in
                    request.onHTTPResponse(on: testQueue) { [weak request] _ in request?.cancel() }
                },
                { request in
                    request.validate { [weak request] _, _, _ in
                        request?.cancel()
                        return .success(())
                    }
                },
            ]
            for configure in closures {
                let request = makeSession().request(server.url("/x"))
                configure(request)
                // The first handler on a queue may hold the request back, so it may have finished well before.
                let response = await request.response()
                if request.isCancelled { #expect(response.error?.isExplicitlyCancelledError == true) }
                #expect(request.isCancelled || request.isFinished)
            }
            let retrier = ClosureRetrier { request, _ in
                request.cancel()
                return .retry
            }
            server.script("/y", [], afterwards: .closeBeforeHead)
            let request = makeSession(interceptor: retrier).request(server.url("/y"))
            #expect(await request.response().error?.isExplicitlyCancelledError == true)
            #expect(server.requests(to: "/y").count == 1)
        }
    }

    // MARK: Before the head has been decided about

    @Test(arguments: [0, 50_000])
    func cancellingEndsARequestWithAnUndecidedHead(length: Int) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: Int64(length)))
            let asked = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let request = makeSession().request(server.url("/x"))
                .onHTTPResponse(on: testQueue) { _, decide in asked.add(decide) }
            let responses = Calls<Bool>()
            request.response(queue: testQueue) { responses.add($0.error?.isExplicitlyCancelledError ?? false) }
            let decide = try #require(await asked.first())
            request.cancel()
            #expect(await responses.first() == true)
            decide(.allow)
            #expect(request.isCancelled)
        }
    }

    @Test func cancellingEndsAStreamWithAnUndecidedHead() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            let asked = Calls<Void>()
            let request = makeSession().streamRequest(server.url("/x"))
                .onHTTPResponse(on: testQueue) { _, _ in asked.add(()) }
            let ends = Calls<Bool>()
            request.responseStream(on: testQueue) { stream in
                guard case .complete(let completion) = stream.event else { return }
                ends.add(completion.error?.isExplicitlyCancelledError ?? false)
            }
            await asked.first()
            request.cancel()
            #expect(await ends.first() == true)
        }
    }

    @Test func cancellingEndsARequestWithAnUndecidedRedirect() async throws {
        struct Silent: RedirectHandler {
            let asked = Calls<Void>()
            func task(
                _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
                completion: @escaping @Sendable (URLRequest?) -> Void
            ) { asked.add(()) }
        }
        try await withTestServer { server async throws in
            server.script("/x", [.redirect(to: "/y")])
            let handler = Silent()
            let request = makeSession().request(server.url("/x")).redirect(using: handler)
            let task = request.serializingData()
            await handler.asked.first()
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            #expect(server.requests.count == 1)
        }
    }

    // MARK: Suspending

    @Test(arguments: undecided)
    func aSuspendedRequestGetsNoFurtherUntilItIsResumed(stage: Stage) async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: stage, server, delay: 0.2)
            still.request.suspend()
            #expect(still.request.isSuspended)
            if stage == .beforeHead || stage == .afterHead { try await still.passLoop(server) }
            if stage != .notStarted { still.goOn() }
            try await still.settle(server)
            if stage == .waitingToRetry { await still.request.reaches(.suspended(.retryDue)) }
            #expect(still.request.isSuspended)
            #expect(server.requests(to: "/x").count == stage.requestsSeen)
            #expect(still.responses.all.isEmpty)
            still.request.resume()
            #expect(await still.responses.first()?.value == StillRequest.body)
            #expect(still.request.isFinished)
            #expect(server.requests(to: "/x").count == stage.requestsNeeded)
        }
    }

    @Test(arguments: Stage.allCases)
    func aRequestThatIsSuspendedAndResumedAtOnceGoesItsWay(stage: Stage) async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: stage, server, delay: 0.2)
            for _ in 0..<100 { still.request.suspend().resume() }
            still.goOn()
            #expect(await still.responses.first()?.value == StillRequest.body)
            #expect(server.requests(to: "/x").count == stage.requestsNeeded)
        }
    }

    /// libcurl may read a head although it is paused, and then delivers all of its lines at once.
    @Test func aHeadThatArrivesInTheMiddleOfSuspensionsIsReadWhole() async throws {
        for _ in 0..<60 {
            try await withTestServer { server async throws in
                server.serve("/x", .random(seed: 5, count: 50_000))
                server.script("/x", [.holdHead])
                let request = makeSession().request(server.url("/x"))
                let task = request.serializingData()
                try await server.waitForHeld(1)
                for _ in 0..<100 { request.suspend().resume() }
                server.release()
                #expect(await task.response.value == StillRequest.body)
            }
        }
    }

    @Test func aSuspensionWhileTheResponseIsMadeDoesNotKeepItBack() async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: .settling, server)
            still.request.suspend()
            still.goOn()
            #expect(await still.responses.first()?.value == StillRequest.body)
            #expect(still.request.isFinished)
        }
    }

    @Test func aRequestSuspendedInTheQueueLetsOthersPass() async throws {
        try await withTestServer { server async throws in
            let still = try await StillRequest(at: .queued, server)
            server.serve("/next", .text("next"))
            still.request.suspend()
            let next = still.session.request(server.url("/next")).serializingString()
            still.goOn()
            #expect(try await next.value == "next")
            still.request.resume()
            #expect(await still.responses.first()?.value == StillRequest.body)
        }
    }

    @Test func commandsFromManyThreadsLeaveOneEnd() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 5, count: 300_000))
            let session = makeSession()
            for round in 0..<20 {
                let request = session.request(server.url("/x"))
                let responses = Calls<Bool>()
                request.response(queue: testQueue) { responses.add($0.error?.isExplicitlyCancelledError ?? false) }
                DispatchQueue.concurrentPerform(iterations: 8) { thread in
                    for _ in 0..<20 { request.suspend().resume() }
                    if round % 2 == 0, thread == 3 { request.cancel() }
                }
                request.resume()
                #expect(await responses.first() == request.isCancelled)
                #expect(responses.all.count == 1)
            }
        }
    }

    // MARK: Parked downloads

    /// Returns a download that was suspended for so long that its connection was closed.
    private func parked(_ server: TestServer, _ folder: TemporaryFolder) async throws -> DownloadRequest {
        server.serve("/d", ServedFile(.random(seed: 9, count: 300_000), etag: "\"one\""))
        server.script("/d", [.stall(after: 100_000)])
        var settings = SessionSettings()
        settings.loops = 1
        settings.temporaryFolder = folder.path
        settings.suspensionLimit = .milliseconds(20)
        let request = Session(settings).download(
            server.url("/d"),
            to: { _, _ in
                (URL(fileURLWithPath: folder.path("whole")), [.removePreviousFile])
            })
        request.response(queue: testQueue) { _ in }
        try await server.waitForHeld(1)
        let limit = ContinuousClock.now + .seconds(5)
        while request.downloadProgress.completedUnitCount < 100_000, .now < limit { await Task.yield() }
        request.suspend()
        await request.reaches(.suspended(.parked))
        try await server.waitForConnections(closed: 1)
        return request
    }

    @Test func aParkedDownloadResumesWhereItWas() async throws {
        let folder = try TemporaryFolder()
        try await withTestServer { server async throws in
            let request = try await parked(server, folder)
            #expect(request.isSuspended)
            let file = request.serializingDownloadedFileURL()
            request.resume()
            let data = try Data(contentsOf: try await file.value)
            #expect(data == Data(Content.random(seed: 9, count: 300_000).bytes()))
            #expect(server.requests(to: "/d").map(\.range) == [nil, "bytes=100000-"])
        }
    }

    @Test func aParkedDownloadThatIsCancelledLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        try await withTestServer { server async throws in
            let request = try await parked(server, folder)
            request.cancel()
            let error = await request.serializingDownloadedFileURL().response.error
            #expect(error?.isExplicitlyCancelledError == true)
            #expect(request.resumeData == nil)
            #expect(try folder.files() == [])
        }
    }

    @Test func aParkedDownloadGivesItsResumeData() async throws {
        let folder = try TemporaryFolder()
        try await withTestServer { server async throws in
            let request = try await parked(server, folder)
            let data = Calls<Data?>()
            request.cancel { data.add($0) }
            let given = await data.first() ?? nil
            let resumeData = try #require(given)
            var settings = SessionSettings()
            settings.temporaryFolder = folder.path
            let rest = try await Session(settings).download(resumingWith: resumeData).serializingData().value
            #expect(rest == Data(Content.random(seed: 9, count: 300_000).bytes()))
            #expect(server.requests(to: "/d").last?.range == "bytes=100000-")
        }
    }
}
