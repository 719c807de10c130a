import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import TransferTestServer

@testable import TransferNetworking

/// Records every event in order.
final class EventRecorder: EventMonitor {
    struct Event: Sendable {
        let name: String
        var detail = ""
        /// The number of body bytes in this event, and the total until then.
        var bytes: Int64 = 0
        var sum: Int64 = 0
        var total: Int64 = 0
    }

    let queue: DispatchQueue
    let events = Calls<Event>()
    private let mark = DispatchSpecificKey<Bool>()
    private let elsewhere = Atomic(0)

    init(label: String = "recorder") {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: true)
    }

    /// Events that came on another queue than the monitor's.
    var misplaced: Int { elsewhere.load(ordering: .relaxed) }

    /// The names without the end of the session, which comes once no object refers to the session.
    var names: [String] { events.all.map(\.name).filter { $0 != "didBecomeInvalid" } }

    /// The events without those that depend on timing: the frequency of progress, and the number of pieces of a body.
    var story: [String] {
        let progress: Set = ["didSendBodyData", "didWriteData"]
        return names.filter { !progress.contains($0) }.reduce(into: []) { story, name in
            if name != "didReceiveData" || story.last != name { story.append(name) }
        }
    }

    func all(_ name: String) -> [Event] { events.all.filter { $0.name == name } }

    /// Waits for an event.
    @discardableResult
    func until(_ name: String) async -> Event? { await events.first { $0.name == name } }

    private func note(_ event: Event) {
        if DispatchQueue.getSpecific(key: mark) != true { elsewhere.add(1, ordering: .relaxed) }
        events.add(event)
    }

    private func note(_ name: String, _ detail: Any = "") { note(Event(name: name, detail: "\(detail)")) }

    private func note(_ name: String, _ result: Result<some Any, some Error>) {
        if case .success = result { note(name, "success") } else { note(name, "failure") }
    }

    // MARK: Tasks

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("didBecomeInvalid", error.map { "\($0)" } ?? "")
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
        note("didReceiveChallenge")
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note(Event(name: "didSendBodyData", bytes: bytesSent, sum: totalBytesSent, total: totalBytesExpectedToSend))
    }
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        note("taskNeedsNewBodyStream")
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) { note("willPerformHTTPRedirection", "\(response.statusCode) \(request.url?.path ?? "")") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics) {
        note("didFinishCollectingMetrics", metrics.transactionMetrics.count)
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("didComplete", (error as? URLError).map { "\($0.code.rawValue)" } ?? "")
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note("taskIsWaitingForConnectivity")
    }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        note("didReceiveResponse", (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(Event(name: "didReceiveData", detail: String(decoding: data, as: UTF8.self), bytes: Int64(data.count)))
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) { note("willCacheResponse") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note(Event(name: "didResumeAtOffset", sum: fileOffset, total: expectedTotalBytes)) }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        note(
            Event(name: "didWriteData", bytes: bytesWritten, sum: totalBytesWritten, total: totalBytesExpectedToWrite))
    }
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("didFinishDownloadingTo", location.path)
    }

    // MARK: Requests

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note("didCreateInitialURLRequest", urlRequest.headers["X-A"] ?? "")
    }
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note("didFailToCreateURLRequest")
    }
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
        note("didAdapt", "\(initialRequest.headers["X-A"] ?? "") \(adaptedRequest.headers["X-A"] ?? "")")
    }
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
        note("didFailToAdapt")
    }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        note("didCreateURLRequest", urlRequest.headers["X-A"] ?? "")
    }
    func request(_ request: Request, didCreateTask task: URLSessionTask) {
        note("didCreateTask", task.taskIdentifier)
    }
    func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics) { note("didGatherMetrics") }
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note("didFailTaskEarly")
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("didCompleteTask", error == nil ? "" : "failure")
    }
    func requestIsRetrying(_ request: Request) { note("isRetrying", request.retryCount) }
    func requestDidFinish(_ request: Request) { note("didFinish") }
    func requestDidResume(_ request: Request) { note("didResume") }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { note("didResumeTask", task.taskIdentifier) }
    func requestDidSuspend(_ request: Request) { note("didSuspend") }
    func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        note("didSuspendTask", task.taskIdentifier)
    }
    func requestDidCancel(_ request: Request) { note("didCancel") }
    func request(_ request: Request, didCancelTask task: URLSessionTask) { note("didCancelTask", task.taskIdentifier) }

    // MARK: Kinds of requests

    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) { note("didValidate", result) }
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        note("didParseResponse", response.result)
    }
    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
    where Value: Sendable { note("didParse \(Value.self)", response.result) }
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) { note("didValidate", result) }
    func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)
    where Value: Sendable { note("didParseStream \(Value.self)", result) }
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note("didCreateUploadable")
    }
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note("didFailToCreateUploadable")
    }
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        note("didProvideInputStream")
    }
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) { note("didFinishDownloading", result) }
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        note("didCreateDestinationURL", url.path)
    }
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) { note("didValidate", result) }
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        note("didParseResponse", response.result)
    }
    func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
    where Value: Sendable { note("didParse \(Value.self)", response.result) }
}

extension EventRecorder {
    /// Returns a session that reports every event to this monitor.
    func session(_ change: (inout SessionSettings) -> Void = { _ in }) -> Session {
        var settings = SessionSettings()
        settings.loops = 1
        settings.eventMonitors = [self]
        change(&settings)
        return Session(settings)
    }
}
