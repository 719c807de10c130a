public import Dispatch
public import Foundation
public import FoundationNetworking

/// A monitor that passes every event on to several monitors, to each on its own queue.
public final class CompositeEventMonitor: EventMonitor {
    /// The monitors that receive the events.
    public let monitors: [any EventMonitor]
    /// The queue on which the events arrive, a serial one.
    public let queue = DispatchQueue(label: "transferkit.monitor.composite")

    /// Creates a monitor.
    public init(monitors: [any EventMonitor]) { self.monitors = monitors }

    /// Passes an event to the queue of each monitor, in the order of the calls.
    func emit(_ event: MonitorEvent) {
        for monitor in monitors { monitor.queue.async { event.deliver(monitor) } }
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        emit(MonitorEvent { $0.urlSession(session, didBecomeInvalidWithError: error) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didReceive: challenge) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        emit(
            MonitorEvent {
                $0.urlSession(
                    session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                    totalBytesExpectedToSend: totalBytesExpectedToSend)
            })
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        emit(MonitorEvent { $0.urlSession(session, taskNeedsNewBodyStream: task) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        emit(
            MonitorEvent {
                $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics
    ) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didFinishCollecting: metrics) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didCompleteWithError: error) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        emit(MonitorEvent { $0.urlSession(session, taskIsWaitingForConnectivity: task) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, didReceive: response) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, didReceive: data) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        emit(
            MonitorEvent {
                $0.urlSession(
                    session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                    expectedTotalBytes: expectedTotalBytes)
            })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        emit(
            MonitorEvent {
                $0.urlSession(
                    session, downloadTask: downloadTask, didWriteData: bytesWritten,
                    totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
            })
    }

    /// Passes the event on to each monitor.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        emit(MonitorEvent { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        emit(MonitorEvent { $0.request(request, didCreateInitialURLRequest: urlRequest) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailToCreateURLRequestWithError: error) })
    }

    /// Passes the event on to each monitor.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        emit(MonitorEvent { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) })
    }

    /// Passes the event on to each monitor.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        emit(MonitorEvent { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        emit(MonitorEvent { $0.request(request, didCreateURLRequest: urlRequest) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didCreateTask: task) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics) {
        emit(MonitorEvent { $0.request(request, didGatherMetrics: metrics) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailTask: task, earlyWithError: error) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        emit(MonitorEvent { $0.request(request, didCompleteTask: task, with: error) })
    }

    /// Passes the event on to each monitor.
    public func requestIsRetrying(_ request: Request) {
        emit(MonitorEvent { $0.requestIsRetrying(request) })
    }

    /// Passes the event on to each monitor.
    public func requestDidFinish(_ request: Request) {
        emit(MonitorEvent { $0.requestDidFinish(request) })
    }

    /// Passes the event on to each monitor.
    public func requestDidResume(_ request: Request) {
        emit(MonitorEvent { $0.requestDidResume(request) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didResumeTask: task) })
    }

    /// Passes the event on to each monitor.
    public func requestDidSuspend(_ request: Request) {
        emit(MonitorEvent { $0.requestDidSuspend(request) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didSuspendTask: task) })
    }

    /// Passes the event on to each monitor.
    public func requestDidCancel(_ request: Request) {
        emit(MonitorEvent { $0.requestDidCancel(request) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didCancelTask: task) })
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) {
        emit(
            MonitorEvent {
                $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result)
            })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        emit(
            MonitorEvent { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
        )
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseStream: result) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        emit(MonitorEvent { $0.request(request, didCreateUploadable: uploadable) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailToCreateUploadableWithError: error) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        let provided = ProvidedStream(stream: stream)
        emit(MonitorEvent { $0.request(request, didProvideInputStream: provided.stream) })
    }

    /// Passes the event on to each monitor.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        emit(MonitorEvent { $0.request(request, didFinishDownloadingUsing: task, with: result) })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        emit(MonitorEvent { $0.request(request, didCreateDestinationURL: url) })
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        emit(
            MonitorEvent {
                $0.request(
                    request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
            })
    }

    /// Passes the event on to each monitor.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    /// Passes the event on to each monitor.
    @preconcurrency
    public func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }
}
