import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("The attempts that a request records", .timeLimit(.minutes(1)))
struct RequestTaskTests {
    private func retrying(_ times: Int) -> ClosureRetrier {
        ClosureRetrier { request, _ in request.retryCount < times ? .retry : .doNotRetry }
    }

    @Test func aNewRequestKnowsNothing() {
        let request = makeSession().request("http://a.example/x")
        #expect(request.requests.isEmpty && request.tasks.isEmpty && request.allMetrics.isEmpty)
        #expect(request.request == nil && request.firstRequest == nil && request.lastRequest == nil)
        #expect(request.task == nil && request.firstTask == nil && request.lastTask == nil)
        #expect(request.response == nil && request.metrics == nil && request.error == nil)
        #expect(request.retryCount == 0)
        #expect(request.description == "No request created yet.")
    }

    @Test func oneAttemptIsOneTaskWithItsRequestAndAnswer() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 5000))
            let request = makeSession().request(server.url("/x"))
            _ = await request.response()
            let task = try #require(request.task)
            #expect(request.tasks == [task])
            #expect(request.firstTask === task && request.lastTask === task)
            #expect(task is URLSessionDataTask)
            #expect(task.originalRequest?.url?.absoluteString == server.url("/x"))
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(task.countOfBytesReceived == 5000)
            #expect(task.countOfBytesExpectedToReceive == 5000)
            #expect(task.state == .completed)
            #expect(task.error == nil)
            #expect(request.requests.count == 1)
            #expect(request.retryCount == 0)
            #expect(request.description == "GET \(server.url("/x")) (200)")
        }
    }

    @Test func theKindOfATaskIsItsClass() async throws {
        let folder = try TemporaryFolder("task")
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.acceptUploads("/in")
            let session = makeSession(folder)
            let download = session.download(server.url("/x"))
            _ = await download.serializingDownloadedFileURL().response
            #expect(download.task is URLSessionDownloadTask)
            let upload = session.upload(Data(count: 7), to: server.url("/in"))
            _ = await upload.response()
            #expect(upload.task is URLSessionUploadTask)
            #expect(upload.task?.countOfBytesSent == 7)
            #expect(upload.task?.countOfBytesExpectedToSend == 7)
        }
    }

    @Test func tasksOfASessionAreNumbered() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession()
            let requests = [session.request(server.url("/x")), session.request(server.url("/x"))]
            for request in requests { _ = await request.response() }
            #expect(requests.map { $0.task?.taskIdentifier } == [1, 2])
        }
    }

    @Test func aTaskThatFailedHasItsError() async throws {
        let gone = try await withTestServer { $0.url("/x") }
        let request = makeSession().request(gone)
        _ = await request.response()
        #expect((request.task?.error as? URLError)?.code == .cannotConnectToHost)
        #expect(request.error?.isSessionTaskError == true)
    }

    @Test func anAdaptedRequestIsKeptBesideTheFirst() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(interceptor: HeaderAdapter("X-A", "new")).request(server.url("/x"))
            _ = await request.response()
            #expect(request.requests.map { $0.headers["X-A"] } == [nil, "new"])
            #expect(request.firstRequest?.headers["X-A"] == nil)
            #expect(request.request?.headers["X-A"] == "new")
            #expect(request.task?.originalRequest?.headers["X-A"] == "new")
        }
    }

    @Test func everyAttemptHasItsTaskAndMetrics() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503), .status(502)])
            let request = makeSession(interceptor: retrying(2)).request(server.url("/x")).validate()
            let response = await request.response()
            #expect(response.error == nil)
            #expect(request.retryCount == 2)
            #expect(request.tasks.map(\.taskIdentifier) == [1, 2, 3])
            let statuses = request.tasks.map { ($0.response as? HTTPURLResponse)?.statusCode }
            #expect(statuses == [503, 502, 200])
            #expect(request.allMetrics.count == 3)
            let starts = request.allMetrics.map(\.taskInterval.start)
            #expect(starts == starts.sorted())
            #expect(request.firstMetrics?.taskInterval == request.allMetrics.first?.taskInterval)
            #expect(request.metrics?.taskInterval == request.allMetrics.last?.taskInterval)
            #expect(response.metrics?.taskInterval == request.metrics?.taskInterval)
        }
    }

    @Test func metricsDescribeEveryHop() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.serve("/b", .random(seed: 1, count: 3000))
            let request = makeSession().request(server.url("/a"))
            _ = await request.response()
            let metrics = try #require(request.metrics)
            #expect(metrics.redirectCount == 1)
            let hops = metrics.transactionMetrics
            #expect(hops.map { $0.request.url?.path } == ["/a", "/b"])
            #expect(hops.map(\.isReusedConnection) == [false, true])
            #expect(hops.last?.countOfResponseBodyBytesReceived == 3000)
            #expect(hops.last?.remoteAddress == "127.0.0.1")
            #expect(hops.last?.remotePort == Int(server.port))
            #expect(hops.last?.networkProtocolName == "http/1.1")
            for hop in hops {
                let moments = [
                    hop.fetchStartDate, hop.requestStartDate, hop.responseStartDate, hop.responseEndDate,
                ].compactMap { $0 }
                #expect(moments.count == 4)
                #expect(moments == moments.sorted())
            }
        }
    }

    /// A request that is retried for days must not grow in memory.
    @Test func twoHundredRetriesKeepTheLatestThirtyTwo() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(503))
            let request = makeSession(interceptor: retrying(200)).request(server.url("/x")).validate()
            let response = await request.response()
            #expect(response.error?.responseCode == 503)
            #expect(server.requests.count == 201)
            #expect(request.retryCount == 200)
            #expect(request.requests.count == 32)
            #expect(request.tasks.map(\.taskIdentifier) == Array(170...201))
            #expect(request.allMetrics.count == 32)
            #expect(request.firstTask?.taskIdentifier == 1)
            #expect(request.lastTask?.taskIdentifier == 201)
        }
    }

    @Test func aHistoryKeepsTheFirstAndTheLatest() {
        var history = History<Int>()
        #expect(history.first == nil && history.last == nil && history.elements.isEmpty)
        for number in 1...100 { history.append(number) }
        #expect(history.first == 1)
        #expect(history.last == 100)
        #expect(history.elements == Array(69...100))
    }

    /// A caller that keeps a task does not keep the request of the task.
    @Test func aTaskDoesNotHoldItsRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            weak var gone: DataRequest?
            var task: URLSessionTask?
            do {
                let request = makeSession().request(server.url("/x"))
                gone = request
                _ = await request.response()
                task = request.task
            }
            let limit = ContinuousClock.now + .seconds(5)
            while gone != nil, .now < limit { await Task.yield() }
            #expect(gone == nil)
            task?.cancel()
            task?.resume()
            #expect(task?.state == .completed)
            #expect((task?.response as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    /// The task of a former attempt has no effect on the next one.
    @Test func anOldTaskDoesNotCancelTheNextAttempt() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503), .holdHead])
            let request = makeSession(interceptor: retrying(1)).request(server.url("/x")).validate()
            let response = request.serializingString()
            try await server.waitForHeld(1)
            let first = try #require(request.firstTask)
            first.suspend()
            #expect(request.isResumed)
            first.cancel()
            #expect(!request.isCancelled)
            server.release()
            let text = try await response.value
            #expect(text == "x")
        }
    }

    @Test func theAnswerIsThereAsSoonAsItsHead() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.stall(after: 1000)])
            let heads = Calls<Int>()
            let request = makeSession().request(server.url("/x")).onHTTPResponse(on: testQueue) {
                heads.add($0.statusCode)
            }
            let response = request.serializingData()
            _ = await heads.first()
            #expect(request.response?.statusCode == 200)
            #expect(request.metrics == nil)
            try await server.waitForHeld(1)
            server.release()
            _ = try await response.value
            #expect(request.metrics != nil)
        }
    }
}
