import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Closures that receive events of a request", .timeLimit(.minutes(1)))
struct RequestHookTests {
    // MARK: URL requests

    @Test func theURLRequestIsReportedAsSent() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let calls = Calls<URLRequest>()
            let request = makeSession(interceptor: HeaderAdapter("X-A", "adapted")).request(server.url("/x"))
                .onURLRequestCreation(on: testQueue) { calls.add($0) }
            _ = await request.response()
            await testQueue.passed()
            #expect(calls.all.map { $0.headers["X-A"] } == ["adapted"])
            #expect(calls.all.first?.url?.absoluteString == server.url("/x"))
        }
    }

    @Test func theURLRequestOfEachAttemptIsReported() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503), .status(503)])
            let calls = Calls<URLRequest>()
            let tasks = Calls<Int>()
            let retrier = ClosureRetrier { request, _ in request.retryCount < 2 ? .retry : .doNotRetry }
            let request = makeSession(interceptor: retrier).request(server.url("/x")).validate()
                .onURLRequestCreation(on: testQueue) { calls.add($0) }
                .onURLSessionTaskCreation(on: testQueue) { tasks.add($0.taskIdentifier) }
            _ = await request.response()
            await testQueue.passed()
            #expect(calls.all.count == 3)
            #expect(tasks.all == [1, 2, 3])
        }
    }

    @Test func theClosureThatWasSetLastCounts() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let calls = Calls<String>()
            let request = makeSession(starts: false).request(server.url("/x"))
                .onURLRequestCreation(on: testQueue) { _ in calls.add("first request") }
                .onURLRequestCreation(on: testQueue) { _ in calls.add("second request") }
                .onURLSessionTaskCreation(on: testQueue) { _ in calls.add("first task") }
                .onURLSessionTaskCreation(on: testQueue) { _ in calls.add("second task") }
                .onHTTPResponse(on: testQueue) { _ in calls.add("first response") }
                .onHTTPResponse(on: testQueue) { _ in calls.add("second response") }
            request.response(queue: testQueue) { _ in calls.add("end") }.resume()
            _ = await calls.first { $0 == "end" }
            #expect(calls.all == ["second request", "second task", "second response", "end"])
        }
    }

    @Test func aLateHookIsCalledAtOnce() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(interceptor: HeaderAdapter("X-A", "adapted")).request(server.url("/x"))
            _ = await request.response()
            let requests = Calls<String?>()
            let tasks = Calls<URLSessionTask>()
            request.onURLRequestCreation(on: testQueue) { requests.add($0.headers["X-A"]) }
            request.onURLSessionTaskCreation(on: testQueue) { tasks.add($0) }
            let header = await requests.first()
            #expect(header == "adapted")
            let task = await tasks.first()
            #expect(task?.state == .completed)
        }
    }

    /// After the adapters and before the network the URL request exists, and no attempt does.
    @Test func aHookOfAReadyRequestIsCalledAtOnce() async throws {
        try await withTestServer { server async throws in
            server.serve("/first", .text("first"))
            server.script("/first", [.holdHead])
            server.serve("/x", .text("x"))
            var settings = SessionSettings()
            settings.loops = 1
            settings.maximumConnectionsPerHost = 1
            let session = Session(settings)
            session.request(server.url("/first")).response(queue: testQueue) { _ in }
            try await server.waitForHeld(1)
            let request = session.request(server.url("/x"))
            let ready = Calls<URLRequest>()
            request.onURLRequestCreation(on: testQueue) { ready.add($0) }
            let response = request.serializingString()
            _ = await ready.first()

            let commands = Calls<String>()
            request.cURLDescription(on: testQueue) { commands.add($0) }
            let command = await commands.first()
            #expect(command?.contains("/x") == true)
            var streamed = request.urlRequests().makeAsyncIterator()
            let urlRequest = await streamed.next()
            #expect(urlRequest?.url?.path == "/x")
            #expect(request.task?.state == .running)
            server.release()
            let text = try await response.value
            #expect(text == "x")
        }
    }

    /// An adapter is at work: the unadapted URL request is not the one that is sent.
    @Test func anUnadaptedURLRequestIsNotReported() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let adapting = Calls<@Sendable () -> Void>()
            let interceptor = Adapter { urlRequest, _, completion in
                var changed = urlRequest
                changed.headers.add(name: "X-A", value: "adapted")
                let answer = changed
                adapting.add { completion(.success(answer)) }
            }
            let request = makeSession(interceptor: interceptor).request(server.url("/x"))
            let response = request.serializingString()
            let answer = try #require(await adapting.first())
            let calls = Calls<String?>()
            request.onURLRequestCreation(on: testQueue) { calls.add($0.headers["X-A"]) }
            await testQueue.passed()
            #expect(calls.all.isEmpty)
            answer()
            _ = try await response.value
            await testQueue.passed()
            #expect(calls.all == ["adapted"])
        }
    }

    @Test func aReportedTaskControlsItsRequest() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let tasks = Calls<URLSessionTask>()
            let request = makeSession().request(server.url("/x")).onURLSessionTaskCreation(on: testQueue) {
                tasks.add($0)
            }
            let response = request.serializingString()
            let task = try #require(await tasks.first())
            try await server.waitForHeld(1)
            #expect(task.state == .running)
            task.suspend()
            #expect(request.isSuspended)
            #expect(task.state == .suspended)
            task.resume()
            #expect(request.isResumed)
            task.cancel()
            #expect(request.isCancelled)
            let error = await response.response.error
            #expect(error?.isExplicitlyCancelledError == true)
            #expect(task.state == .completed)
        }
    }

    // MARK: Heads of answers

    enum Form: CaseIterable { case closure, decision, asyncClosure, asyncDecision }

    private func observe(_ request: DataRequest, as form: Form, _ calls: Calls<Int>) {
        switch form {
        case .closure: request.onHTTPResponse(on: testQueue) { calls.add($0.statusCode) }
        case .decision:
            request.onHTTPResponse(on: testQueue) { response, completionHandler in
                calls.add(response.statusCode)
                completionHandler(.allow)
            }
        case .asyncClosure:
            request.onHTTPResponse { (response: HTTPURLResponse) async -> Void in
                calls.add(response.statusCode)
            }
        case .asyncDecision:
            request.onHTTPResponse { (response: HTTPURLResponse) async -> Request.ResponseDisposition in
                calls.add(response.statusCode)
                return .allow
            }
        }
    }

    @Test(arguments: Form.allCases, [0, 1, 200_000])
    func theHeadIsReportedBeforeTheEndWithAnyBody(form: Form, length: Int) async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 2, count: Int64(length))
            server.handle("GET", "/x") { _ in Response(status: 203, body: body) }
            let calls = Calls<Int>()
            let request = makeSession(starts: false).request(server.url("/x"))
            observe(request, as: form, calls)
            async let response = request.resume().response()
            let data = await response.data
            #expect(calls.all == [203])
            #expect(data.map { Array($0) } ?? [] == body.bytes())
        }
    }

    @Test(arguments: [204, 304, 404])
    func theHeadOfAnAnswerWithoutABodyIsReported(status: Int) async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(status)])
            let calls = Calls<Int>()
            let request = makeSession().request(server.url("/x")).onHTTPResponse(on: testQueue) {
                calls.add($0.statusCode)
            }
            let response = await request.response()
            #expect(response.response?.statusCode == status)
            #expect(calls.all == [status])
        }
    }

    @Test func theHeadOfAnAnswerToHEADIsReported() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let calls = Calls<Int>()
            let request = makeSession().request(server.url("/x"), method: .head).onHTTPResponse(on: testQueue) {
                calls.add($0.statusCode)
            }
            _ = await request.response()
            #expect(calls.all == [200])
        }
    }

    @Test func theBodyWaitsForTheDecision() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let decisions = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let request = makeSession().request(server.url("/x")).onHTTPResponse(on: testQueue) { _, decide in
                decisions.add(decide)
            }
            let response = request.serializingString()
            let decide = try #require(await decisions.first())
            try await server.waitForAnswers(1)
            #expect(request.data?.isEmpty != false)
            #expect(!request.isFinished)
            decide(.allow)
            decide(.allow)
            let text = try await response.value
            #expect(text == "body")
        }
    }

    @Test(arguments: [0, 4, 500_000])
    func aRefusedAnswerCancelsTheRequest(length: Int) async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 2, count: Int64(length))
            server.handle("GET", "/x") { _ in Response(status: 200, body: body) }
            let request = makeSession().request(server.url("/x")).onHTTPResponse(on: testQueue) { _, decide in
                decide(.cancel)
            }
            let response = await request.response()
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(request.isCancelled)
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func anAsyncDecisionCancels() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let request = makeSession().request(server.url("/x"))
                .onHTTPResponse { $0.statusCode == 200 ? .cancel : .allow }
            let response = await request.response()
            #expect(response.error?.isExplicitlyCancelledError == true)
        }
    }

    /// A retry makes another answer. A decision about the first answer does not apply to it.
    @Test func aLateRefusalOfAnEarlierAnswerDoesNotCancelTheNextAttempt() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            server.script("/x", [.status(503)])
            let decisions = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let retrier = ClosureRetrier { request, _ in request.retryCount == 0 ? .retry : .doNotRetry }
            let request = makeSession(interceptor: retrier).request(server.url("/x")).validate()
                .onHTTPResponse(on: testQueue) { _, decide in decisions.add(decide) }
            let response = request.serializingString()
            let first = try #require(await decisions.first())
            first(.allow)
            let second = try #require(await decisions.first())
            first(.cancel)
            second(.allow)
            let text = try await response.value
            #expect(text == "body")
            #expect(!request.isCancelled)
        }
    }

    @Test func aStreamWaitsForTheDecisionToo() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            let decisions = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let pieces = Calls<String>()
            let request = makeSession().streamRequest(server.url("/x")).onHTTPResponse(on: testQueue) { _, decide in
                decisions.add(decide)
            }
            request.responseStreamString(on: testQueue) { stream in
                switch stream.event {
                case .stream(.success(let text)): pieces.add(text)
                case .complete: pieces.add("end")
                }
            }
            let decide = try #require(await decisions.first())
            try await server.waitForAnswers(1)
            await testQueue.passed()
            #expect(pieces.all.isEmpty)
            decide(.allow)
            _ = await pieces.first { $0 == "end" }
            #expect(pieces.all == ["body", "end"])
        }
    }
}
