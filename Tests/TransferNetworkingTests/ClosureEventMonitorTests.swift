import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Monitors made of closures, and several monitors as one", .timeLimit(.minutes(1)))
struct ClosureEventMonitorTests {
    /// Returns a monitor whose closures record their names and arguments.
    static func monitor(_ calls: Calls<String>, on queue: DispatchQueue) -> ClosureEventMonitor {
        let monitor = ClosureEventMonitor(queue: queue)
        tasks(monitor, calls)
        requests(monitor, calls)
        kinds(monitor, calls)
        return monitor
    }

    private static func tasks(_ monitor: ClosureEventMonitor, _ calls: Calls<String>) {
        monitor.sessionDidBecomeInvalidWithError = { calls.add("sessionDidBecomeInvalidWithError \($1 == nil)") }
        monitor.taskDidReceiveChallenge = {
            calls.add("taskDidReceiveChallenge \($1.taskIdentifier) \($2.previousFailureCount)")
        }
        monitor.taskDidSendBodyData = { calls.add("taskDidSendBodyData \($1.taskIdentifier) \($2) \($3) \($4)") }
        monitor.taskNeedNewBodyStream = { calls.add("taskNeedNewBodyStream \($1.taskIdentifier)") }
        monitor.taskWillPerformHTTPRedirection = {
            calls.add("taskWillPerformHTTPRedirection \($1.taskIdentifier) \($2.statusCode) \($3.url?.path ?? "")")
        }
        monitor.taskDidFinishCollectingMetrics = {
            calls.add("taskDidFinishCollectingMetrics \($1.taskIdentifier) \($2.redirectCount)")
        }
        monitor.taskDidComplete = { calls.add("taskDidComplete \($1.taskIdentifier) \($2 is TestFailure)") }
        monitor.taskIsWaitingForConnectivity = { calls.add("taskIsWaitingForConnectivity \($1.taskIdentifier)") }
        monitor.dataTaskDidReceiveResponse = {
            calls.add("dataTaskDidReceiveResponse \($1.taskIdentifier) \($2.url?.path ?? "")")
        }
        monitor.dataTaskDidReceiveData = { calls.add("dataTaskDidReceiveData \($1.taskIdentifier) \($2.count)") }
        monitor.dataTaskWillCacheResponse = {
            calls.add("dataTaskWillCacheResponse \($1.taskIdentifier) \($2.data.count)")
        }
        monitor.downloadTaskDidResumeAtOffset = {
            calls.add("downloadTaskDidResumeAtOffset \($1.taskIdentifier) \($2) \($3)")
        }
        monitor.downloadTaskDidWriteData = {
            calls.add("downloadTaskDidWriteData \($1.taskIdentifier) \($2) \($3) \($4)")
        }
        monitor.downloadTaskDidFinishDownloadingToURL = {
            calls.add("downloadTaskDidFinishDownloadingToURL \($1.taskIdentifier) \($2.path)")
        }
    }

    private static func requests(_ monitor: ClosureEventMonitor, _ calls: Calls<String>) {
        monitor.requestDidCreateInitialURLRequest = {
            calls.add("requestDidCreateInitialURLRequest \($1.url?.path ?? "")")
        }
        monitor.requestDidFailToCreateURLRequestWithError = {
            calls.add("requestDidFailToCreateURLRequestWithError \($1.isInvalidURLError)")
        }
        monitor.requestDidAdaptInitialRequestToAdaptedRequest = {
            calls.add("requestDidAdaptInitialRequestToAdaptedRequest \($1.url?.path ?? "") \($2.url?.path ?? "")")
        }
        monitor.requestDidFailToAdaptURLRequestWithError = {
            calls.add("requestDidFailToAdaptURLRequestWithError \($1.url?.path ?? "") \($2.isInvalidURLError)")
        }
        monitor.requestDidCreateURLRequest = { calls.add("requestDidCreateURLRequest \($1.url?.path ?? "")") }
        monitor.requestDidCreateTask = { calls.add("requestDidCreateTask \($1.taskIdentifier)") }
        monitor.requestDidGatherMetrics = { calls.add("requestDidGatherMetrics \($1.redirectCount)") }
        monitor.requestDidFailTaskEarlyWithError = {
            calls.add("requestDidFailTaskEarlyWithError \($1.taskIdentifier) \($2.isInvalidURLError)")
        }
        monitor.requestDidCompleteTaskWithError = {
            calls.add("requestDidCompleteTaskWithError \($1.taskIdentifier) \($2?.isInvalidURLError == true)")
        }
        monitor.requestIsRetrying = { calls.add("requestIsRetrying \($0 is DownloadRequest)") }
        monitor.requestDidFinish = { calls.add("requestDidFinish \($0 is DownloadRequest)") }
        monitor.requestDidResume = { calls.add("requestDidResume \($0 is DownloadRequest)") }
        monitor.requestDidResumeTask = { calls.add("requestDidResumeTask \($1.taskIdentifier)") }
        monitor.requestDidSuspend = { calls.add("requestDidSuspend \($0 is DownloadRequest)") }
        monitor.requestDidSuspendTask = { calls.add("requestDidSuspendTask \($1.taskIdentifier)") }
        monitor.requestDidCancel = { calls.add("requestDidCancel \($0 is DownloadRequest)") }
        monitor.requestDidCancelTask = { calls.add("requestDidCancelTask \($1.taskIdentifier)") }
    }

    private static func kinds(_ monitor: ClosureEventMonitor, _ calls: Calls<String>) {
        monitor.requestDidValidateRequestResponseDataWithResult = {
            calls.add(
                "requestDidValidateRequestResponseDataWithResult \($2.statusCode) \($3?.count ?? 0) \($4.isSuccess)")
        }
        monitor.requestDidParseResponse = {
            calls.add("requestDidParseResponse \($1.error?.isInvalidURLError == true)")
        }
        monitor.requestDidValidateRequestResponseWithResult = {
            calls.add("requestDidValidateRequestResponseWithResult \($2.statusCode) \($3.isSuccess)")
        }
        monitor.requestDidCreateUploadable = {
            if case .data(let data) = $1 { calls.add("requestDidCreateUploadable \(data.count)") }
        }
        monitor.requestDidFailToCreateUploadableWithError = {
            calls.add("requestDidFailToCreateUploadableWithError \($1.isInvalidURLError)")
        }
        monitor.requestDidProvideInputStream = {
            calls.add("requestDidProvideInputStream \($1.streamStatus == .notOpen)")
        }
        monitor.requestDidFinishDownloadingUsingTaskWithResult = {
            calls.add("requestDidFinishDownloadingUsingTaskWithResult \($1.taskIdentifier) \($2.isSuccess)")
        }
        monitor.requestDidCreateDestinationURL = { calls.add("requestDidCreateDestinationURL \($1.path)") }
        monitor.requestDidValidateRequestResponseFileURLWithResult = {
            calls.add(
                "requestDidValidateRequestResponseFileURLWithResult \($2.statusCode) \($3?.path ?? "") \($4.isSuccess)")
        }
        monitor.requestDidParseDownloadResponse = {
            calls.add("requestDidParseDownloadResponse \($1.error?.isInvalidURLError == true)")
        }
    }

    static let expected = [
        "sessionDidBecomeInvalidWithError true", "taskDidReceiveChallenge 1 3", "taskDidSendBodyData 1 2 3 4",
        "taskNeedNewBodyStream 1", "taskWillPerformHTTPRedirection 1 302 /next", "taskDidFinishCollectingMetrics 1 7",
        "taskDidComplete 1 true", "taskIsWaitingForConnectivity 1", "dataTaskDidReceiveResponse 1 /first",
        "dataTaskDidReceiveData 1 5", "dataTaskWillCacheResponse 1 5", "downloadTaskDidResumeAtOffset 2 6 8",
        "downloadTaskDidWriteData 2 2 3 4", "downloadTaskDidFinishDownloadingToURL 2 /tmp/file",
        "requestDidCreateInitialURLRequest /first", "requestDidFailToCreateURLRequestWithError true",
        "requestDidAdaptInitialRequestToAdaptedRequest /first /next",
        "requestDidFailToAdaptURLRequestWithError /first true", "requestDidCreateURLRequest /next",
        "requestDidCreateTask 1", "requestDidGatherMetrics 7", "requestDidFailTaskEarlyWithError 1 true",
        "requestDidCompleteTaskWithError 1 true", "requestIsRetrying true", "requestDidFinish true",
        "requestDidResume true", "requestDidResumeTask 1", "requestDidSuspend true", "requestDidSuspendTask 1",
        "requestDidCancel true", "requestDidCancelTask 1",
        "requestDidValidateRequestResponseDataWithResult 302 5 true", "requestDidParseResponse true",
        "requestDidValidateRequestResponseWithResult 302 false", "requestDidCreateUploadable 5",
        "requestDidFailToCreateUploadableWithError true", "requestDidProvideInputStream true",
        "requestDidFinishDownloadingUsingTaskWithResult 1 true", "requestDidCreateDestinationURL /tmp/file",
        "requestDidValidateRequestResponseFileURLWithResult 302 /tmp/file true",
        "requestDidParseDownloadResponse true",
    ]

    /// Calls every method of `monitor` once.
    static func tellEverything(to monitor: some EventMonitor) throws {
        let session = Session(SessionSettings())
        let url = try #require(URL(string: "http://127.0.0.1/first"))
        let next = URLRequest(url: try #require(URL(string: "http://127.0.0.1/next")))
        let first = URLRequest(url: url)
        let data = session.request(first)
        let download = session.download(first)
        let stream = session.streamRequest(first)
        let upload = session.upload(Data(count: 5), with: first)
        let task = TransferDataTask(AttemptRecord(first, number: 1), data)
        let downloadTask = TransferDownloadTask(AttemptRecord(first, number: 2), download)
        let answer = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
        let error = AFError.invalidURL(url: "x")
        let metrics = TransferTaskMetrics(transactionMetrics: [], taskInterval: DateInterval(), redirectCount: 7)
        let foundation = session.session
        let file = URL(fileURLWithPath: "/tmp/file")
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                host: "a.example", port: 80, protocol: "http", realm: nil, authenticationMethod: nil),
            proposedCredential: nil, previousFailureCount: 3, failureResponse: nil, error: nil, sender: NoSender())

        monitor.urlSession(foundation, didBecomeInvalidWithError: nil)
        monitor.urlSession(foundation, task: task, didReceive: challenge)
        monitor.urlSession(
            foundation, task: task, didSendBodyData: 2, totalBytesSent: 3, totalBytesExpectedToSend: 4)
        monitor.urlSession(foundation, taskNeedsNewBodyStream: task)
        monitor.urlSession(foundation, task: task, willPerformHTTPRedirection: answer, newRequest: next)
        monitor.urlSession(foundation, task: task, didFinishCollecting: metrics)
        monitor.urlSession(foundation, task: task, didCompleteWithError: TestFailure())
        monitor.urlSession(foundation, taskIsWaitingForConnectivity: task)
        monitor.urlSession(foundation, dataTask: task, didReceive: answer)
        monitor.urlSession(foundation, dataTask: task, didReceive: Data(count: 5))
        monitor.urlSession(
            foundation, dataTask: task, willCacheResponse: CachedURLResponse(response: answer, data: Data(count: 5)))
        monitor.urlSession(foundation, downloadTask: downloadTask, didResumeAtOffset: 6, expectedTotalBytes: 8)
        monitor.urlSession(
            foundation, downloadTask: downloadTask, didWriteData: 2, totalBytesWritten: 3,
            totalBytesExpectedToWrite: 4)
        monitor.urlSession(foundation, downloadTask: downloadTask, didFinishDownloadingTo: file)
        monitor.request(data, didCreateInitialURLRequest: first)
        monitor.request(data, didFailToCreateURLRequestWithError: error)
        monitor.request(data, didAdaptInitialRequest: first, to: next)
        monitor.request(data, didFailToAdaptURLRequest: first, withError: error)
        monitor.request(data, didCreateURLRequest: next)
        monitor.request(data, didCreateTask: task)
        monitor.request(data, didGatherMetrics: metrics)
        monitor.request(data, didFailTask: task, earlyWithError: error)
        monitor.request(data, didCompleteTask: task, with: error)
        monitor.requestIsRetrying(download)
        monitor.requestDidFinish(download)
        monitor.requestDidResume(download)
        monitor.request(data, didResumeTask: task)
        monitor.requestDidSuspend(download)
        monitor.request(data, didSuspendTask: task)
        monitor.requestDidCancel(download)
        monitor.request(data, didCancelTask: task)
        monitor.request(
            data, didValidateRequest: first, response: answer, data: Data(count: 5), withResult: .success(()))
        monitor.request(data, didParseResponse: Self.failed)
        monitor.request(stream, didValidateRequest: first, response: answer, withResult: .failure(TestFailure()))
        monitor.request(upload, didCreateUploadable: .data(Data(count: 5)))
        monitor.request(upload, didFailToCreateUploadableWithError: error)
        monitor.request(upload, didProvideInputStream: InputStream(data: Data()))
        monitor.request(download, didFinishDownloadingUsing: task, with: .success(file))
        monitor.request(download, didCreateDestinationURL: file)
        monitor.request(
            download, didValidateRequest: first, response: answer, fileURL: file, withResult: .success(()))
        monitor.request(download, didParseResponse: Self.failedDownload)
    }

    static let failed = DataResponse<Data?, AFError>(
        request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0,
        result: .failure(.invalidURL(url: "x")))
    static let failedDownload = DownloadResponse<URL?, AFError>(
        request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
        result: .failure(.invalidURL(url: "x")))

    @Test func everyEventCallsItsClosureWithItsArguments() throws {
        let calls = Calls<String>()
        try Self.tellEverything(to: Self.monitor(calls, on: testQueue))
        #expect(calls.all == Self.expected)
    }

    /// A closure that is added to the monitor, but not to this test, would stay untested.
    @Test func theTableAboveHasEveryClosure() {
        let children = Mirror(reflecting: ClosureEventMonitor()).children
        let closures = Set(children.compactMap(\.label)).subtracting(["queue"])
        #expect(closures == Set(Self.expected.compactMap { $0.split(separator: " ").first.map(String.init) }))
    }

    @Test func severalMonitorsReceiveEveryEventOnTheirQueues() async throws {
        let queues = [DispatchQueue(label: "a"), DispatchQueue(label: "b")]
        let calls = [Calls<String>(), Calls<String>()]
        let composite = CompositeEventMonitor(
            monitors: zip(queues, calls).map { Self.monitor($1, on: $0) })
        for queue in queues { queue.suspend() }
        try Self.tellEverything(to: composite)
        #expect(calls[0].all.isEmpty && calls[1].all.isEmpty)
        for queue in queues {
            queue.resume()
            await queue.passed()
        }
        #expect(calls[0].all == Self.expected)
        #expect(calls[1].all == Self.expected)
    }

    /// Events with a generic value have no closure, since they need a type.
    @Test func valuesOfSerializersReachAMonitorThroughOthers() async {
        let recorder = EventRecorder()
        let composite = CompositeEventMonitor(monitors: [CompositeEventMonitor(monitors: [recorder])])
        let session = makeSession()
        let text = DataResponse<String, AFError>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0, result: .success("x"))
        composite.request(session.request("http://127.0.0.1"), didParseResponse: text)
        let file = DownloadResponse<Data, AFError>(
            request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
            result: .success(Data()))
        composite.request(session.download("http://127.0.0.1"), didParseResponse: file)
        composite.request(
            session.streamRequest("http://127.0.0.1"), didParseStream: Result<Int, AFError>.success(1))
        await composite.monitors[0].queue.passed()
        await recorder.queue.passed()
        #expect(recorder.names == ["didParse String", "didParse Data", "didParseStream Int"])
    }

    @Test func aMonitorWithoutClosuresTakesEverything() throws {
        try Self.tellEverything(to: ClosureEventMonitor(queue: testQueue))
    }

    @Test func monitorsAreCalledOnTheMainQueueUnlessTheySayOtherwise() {
        struct Plain: EventMonitor {}
        // On Linux each mention of the main queue is an object of its own.
        #expect(ClosureEventMonitor().queue.label == DispatchQueue.main.label)
        #expect(Plain().queue.label == DispatchQueue.main.label)
    }

    @Test func aMonitorImplementsOnlyWhatItWants() throws {
        struct Plain: EventMonitor {}
        try Self.tellEverything(to: Plain())
    }
}

extension AttemptRecord {
    fileprivate convenience init(_ request: URLRequest, number: Int) {
        self.init(kind: .data, attempt: 1, number: number, urlRequest: request, bodyLength: nil)
    }
}

private final class NoSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
