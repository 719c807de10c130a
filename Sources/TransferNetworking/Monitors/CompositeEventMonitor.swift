public import Dispatch
public import Foundation
public import FoundationNetworking

/// Passes every event on to several monitors, to each on its own queue.
public final class CompositeEventMonitor: EventMonitor {
    public let monitors: [any EventMonitor]
    public let queue = DispatchQueue(label: "transferkit.monitor.composite")

    public init(monitors: [any EventMonitor]) { self.monitors = monitors }

    /// Tells all of them, in the order of the calls.
    func emit(_ event: MonitorEvent) {
        for monitor in monitors { monitor.queue.async { event.deliver(monitor) } }
    }

    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        emit(MonitorEvent { $0.urlSession(session, didBecomeInvalidWithError: error) })
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didReceive: challenge) })
    }

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

    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        emit(MonitorEvent { $0.urlSession(session, taskNeedsNewBodyStream: task) })
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        emit(
            MonitorEvent {
                $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            })
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics
    ) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didFinishCollecting: metrics) })
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        emit(MonitorEvent { $0.urlSession(session, task: task, didCompleteWithError: error) })
    }

    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        emit(MonitorEvent { $0.urlSession(session, taskIsWaitingForConnectivity: task) })
    }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, didReceive: response) })
    }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, didReceive: data) })
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        emit(MonitorEvent { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) })
    }

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

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        emit(MonitorEvent { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) })
    }

    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        emit(MonitorEvent { $0.request(request, didCreateInitialURLRequest: urlRequest) })
    }

    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailToCreateURLRequestWithError: error) })
    }

    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        emit(MonitorEvent { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) })
    }

    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        emit(MonitorEvent { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) })
    }

    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        emit(MonitorEvent { $0.request(request, didCreateURLRequest: urlRequest) })
    }

    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didCreateTask: task) })
    }

    public func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics) {
        emit(MonitorEvent { $0.request(request, didGatherMetrics: metrics) })
    }

    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailTask: task, earlyWithError: error) })
    }

    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        emit(MonitorEvent { $0.request(request, didCompleteTask: task, with: error) })
    }

    public func requestIsRetrying(_ request: Request) {
        emit(MonitorEvent { $0.requestIsRetrying(request) })
    }

    public func requestDidFinish(_ request: Request) {
        emit(MonitorEvent { $0.requestDidFinish(request) })
    }

    public func requestDidResume(_ request: Request) {
        emit(MonitorEvent { $0.requestDidResume(request) })
    }

    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didResumeTask: task) })
    }

    public func requestDidSuspend(_ request: Request) {
        emit(MonitorEvent { $0.requestDidSuspend(request) })
    }

    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didSuspendTask: task) })
    }

    public func requestDidCancel(_ request: Request) {
        emit(MonitorEvent { $0.requestDidCancel(request) })
    }

    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        emit(MonitorEvent { $0.request(request, didCancelTask: task) })
    }

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

    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    @preconcurrency
    public func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    @preconcurrency
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        emit(
            MonitorEvent { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
        )
    }

    @preconcurrency
    public func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseStream: result) })
    }

    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        emit(MonitorEvent { $0.request(request, didCreateUploadable: uploadable) })
    }

    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        emit(MonitorEvent { $0.request(request, didFailToCreateUploadableWithError: error) })
    }

    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        let provided = ProvidedStream(stream: stream)
        emit(MonitorEvent { $0.request(request, didProvideInputStream: provided.stream) })
    }

    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        emit(MonitorEvent { $0.request(request, didFinishDownloadingUsing: task, with: result) })
    }

    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        emit(MonitorEvent { $0.request(request, didCreateDestinationURL: url) })
    }

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

    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }

    @preconcurrency
    public func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
    where Value: Sendable {
        emit(MonitorEvent { $0.request(request, didParseResponse: response) })
    }
}
