public import Dispatch
public import Foundation
public import FoundationNetworking

/// A monitor with closures, which must be set before the monitor is passed to a session.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {  // The closures are set before sharing.
    /// The queue on which the closures are called.
    public let queue: DispatchQueue

    /// The closure called when the session was closed. The error is always `nil`, as sessions are only closed on
    /// purpose.
    @preconcurrency
    open var sessionDidBecomeInvalidWithError: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// The closure called when a server or proxy asks for credentials.
    @preconcurrency
    open var taskDidReceiveChallenge: (@Sendable (URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
    /// The closure called when more of the body was sent. The counts are in bytes; the total is −1 if it is unknown.
    @preconcurrency
    open var taskDidSendBodyData: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    /// The closure called when the body has to be sent again, from a fresh stream.
    @preconcurrency
    open var taskNeedNewBodyStream: (@Sendable (URLSession, URLSessionTask) -> Void)?
    /// The closure called when a redirect is about to be followed.
    open var taskWillPerformHTTPRedirection:
        (@Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
    /// The closure called when the metrics of a task are known.
    @preconcurrency
    open var taskDidFinishCollectingMetrics: (@Sendable (URLSession, URLSessionTask, TransferTaskMetrics) -> Void)?
    /// The closure called when a task ended, with success or with a `URLError`.
    @preconcurrency
    open var taskDidComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)?
    /// The closure called when a task waits until there is a network.
    @preconcurrency
    open var taskIsWaitingForConnectivity: (@Sendable (URLSession, URLSessionTask) -> Void)?
    /// The closure called when the head of a response arrived.
    @preconcurrency
    open var dataTaskDidReceiveResponse: (@Sendable (URLSession, URLSessionDataTask, URLResponse) -> Void)?
    /// The closure called when a piece of a response's body arrived.
    @preconcurrency
    open var dataTaskDidReceiveData: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)?
    /// The closure called when a response is about to be stored in the cache.
    @preconcurrency
    open var dataTaskWillCacheResponse: (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?
    /// The closure called when a download continues after existing bytes. The counts are in bytes; the total is −1 if
    /// it is unknown.
    @preconcurrency
    open var downloadTaskDidResumeAtOffset: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
    /// The closure called when more of a file was written. The counts are in bytes; the total is −1 if it is unknown.
    @preconcurrency
    open var downloadTaskDidWriteData: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    /// The closure called when a file is complete, at its temporary place.
    @preconcurrency
    open var downloadTaskDidFinishDownloadingToURL: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> Void)?
    /// The closure called when the URL request was created and not yet adapted.
    @preconcurrency
    open var requestDidCreateInitialURLRequest: (@Sendable (Request, URLRequest) -> Void)?
    /// The closure called when the URL request could not be created.
    @preconcurrency
    open var requestDidFailToCreateURLRequestWithError: (@Sendable (Request, AFError) -> Void)?
    /// The closure called when the adapters have changed the URL request, or passed it on.
    @preconcurrency
    open var requestDidAdaptInitialRequestToAdaptedRequest: (@Sendable (Request, URLRequest, URLRequest) -> Void)?
    /// The closure called when an adapter refused the URL request.
    @preconcurrency
    open var requestDidFailToAdaptURLRequestWithError: (@Sendable (Request, URLRequest, AFError) -> Void)?
    /// The closure called with the URL request that will be sent.
    @preconcurrency
    open var requestDidCreateURLRequest: (@Sendable (Request, URLRequest) -> Void)?
    /// The closure called when an attempt begins.
    @preconcurrency
    open var requestDidCreateTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The closure called when the metrics of an attempt are known.
    @preconcurrency
    open var requestDidGatherMetrics: (@Sendable (Request, TransferTaskMetrics) -> Void)?
    /// The closure called when an attempt ended before it used the network.
    @preconcurrency
    open var requestDidFailTaskEarlyWithError: (@Sendable (Request, URLSessionTask, AFError) -> Void)?
    /// The closure called when an attempt ended.
    @preconcurrency
    open var requestDidCompleteTaskWithError: (@Sendable (Request, URLSessionTask, AFError?) -> Void)?
    /// The closure called when the request is retried.
    @preconcurrency
    open var requestIsRetrying: (@Sendable (Request) -> Void)?
    /// The closure called when every handler has its response.
    @preconcurrency
    open var requestDidFinish: (@Sendable (Request) -> Void)?
    /// The closure called when the request was started or resumed.
    @preconcurrency
    open var requestDidResume: (@Sendable (Request) -> Void)?
    /// The closure called when a task was started or resumed.
    @preconcurrency
    open var requestDidResumeTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The closure called when the request was suspended.
    @preconcurrency
    open var requestDidSuspend: (@Sendable (Request) -> Void)?
    /// The closure called when a task was suspended.
    @preconcurrency
    open var requestDidSuspendTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The closure called when the request was cancelled.
    @preconcurrency
    open var requestDidCancel: (@Sendable (Request) -> Void)?
    /// The closure called when a task was cancelled.
    @preconcurrency
    open var requestDidCancelTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The closure called when a validation examined a response.
    open var requestDidValidateRequestResponseDataWithResult:
        (@Sendable (DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
    /// The closure called when the unserialized response was delivered.
    @preconcurrency
    open var requestDidParseResponse: (@Sendable (DataRequest, DataResponse<Data?, AFError>) -> Void)?
    /// The closure called when a validation examined the head of a stream.
    open var requestDidValidateRequestResponseWithResult:
        (@Sendable (DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
    /// The closure called when the body of an upload is ready.
    @preconcurrency
    open var requestDidCreateUploadable: (@Sendable (UploadRequest, UploadRequest.Uploadable) -> Void)?
    /// The closure called when the body of an upload could not be created.
    @preconcurrency
    open var requestDidFailToCreateUploadableWithError: (@Sendable (UploadRequest, AFError) -> Void)?
    /// The closure called when an upload takes its body from a stream.
    @preconcurrency
    open var requestDidProvideInputStream: (@Sendable (UploadRequest, InputStream) -> Void)?
    /// The closure called when a file was downloaded, or its download failed.
    open var requestDidFinishDownloadingUsingTaskWithResult:
        (@Sendable (DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
    /// The closure called when the destination of a file is known.
    @preconcurrency
    open var requestDidCreateDestinationURL: (@Sendable (DownloadRequest, URL) -> Void)?
    /// The closure called when a validation examined a downloaded response.
    open var requestDidValidateRequestResponseFileURLWithResult:
        (@Sendable (DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
    /// The closure called when the unserialized response of a download was delivered.
    @preconcurrency
    open var requestDidParseDownloadResponse: (@Sendable (DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?

    /// Creates a monitor.
    ///
    /// - Parameter queue: The queue on which the closures are called.
    public init(queue: DispatchQueue = .main) { self.queue = queue }

    /// Calls ``sessionDidBecomeInvalidWithError``.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sessionDidBecomeInvalidWithError?(session, error)
    }

    /// Calls ``taskDidReceiveChallenge``.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
    {
        taskDidReceiveChallenge?(session, task, challenge)
    }

    /// Calls ``taskDidSendBodyData``.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Calls ``taskNeedNewBodyStream``.
    open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        taskNeedNewBodyStream?(session, task)
    }

    /// Calls ``taskWillPerformHTTPRedirection``.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        taskWillPerformHTTPRedirection?(session, task, response, request)
    }

    /// Calls ``taskDidFinishCollectingMetrics``.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics)
    {
        taskDidFinishCollectingMetrics?(session, task, metrics)
    }

    /// Calls ``taskDidComplete``.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        taskDidComplete?(session, task, error)
    }

    /// Calls ``taskIsWaitingForConnectivity``.
    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        taskIsWaitingForConnectivity?(session, task)
    }

    /// Calls ``dataTaskDidReceiveResponse``.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        dataTaskDidReceiveResponse?(session, dataTask, response)
    }

    /// Calls ``dataTaskDidReceiveData``.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTaskDidReceiveData?(session, dataTask, data)
    }

    /// Calls ``dataTaskWillCacheResponse``.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        dataTaskWillCacheResponse?(session, dataTask, proposedResponse)
    }

    /// Calls ``downloadTaskDidResumeAtOffset``.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    /// Calls ``downloadTaskDidWriteData``.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadTaskDidWriteData?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Calls ``downloadTaskDidFinishDownloadingToURL``.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location)
    }

    /// Calls ``requestDidCreateInitialURLRequest``.
    open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        requestDidCreateInitialURLRequest?(request, urlRequest)
    }

    /// Calls ``requestDidFailToCreateURLRequestWithError``.
    open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        requestDidFailToCreateURLRequestWithError?(request, error)
    }

    /// Calls ``requestDidAdaptInitialRequestToAdaptedRequest``.
    open func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest)
    }

    /// Calls ``requestDidFailToAdaptURLRequestWithError``.
    open func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
    {
        requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
    }

    /// Calls ``requestDidCreateURLRequest``.
    open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        requestDidCreateURLRequest?(request, urlRequest)
    }

    /// Calls ``requestDidCreateTask``.
    open func request(_ request: Request, didCreateTask task: URLSessionTask) {
        requestDidCreateTask?(request, task)
    }

    /// Calls ``requestDidGatherMetrics``.
    open func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics) {
        requestDidGatherMetrics?(request, metrics)
    }

    /// Calls ``requestDidFailTaskEarlyWithError``.
    open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        requestDidFailTaskEarlyWithError?(request, task, error)
    }

    /// Calls ``requestDidCompleteTaskWithError``.
    open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        requestDidCompleteTaskWithError?(request, task, error)
    }

    /// Calls ``requestIsRetrying``.
    open func requestIsRetrying(_ request: Request) {
        requestIsRetrying?(request)
    }

    /// Calls ``requestDidFinish``.
    open func requestDidFinish(_ request: Request) {
        requestDidFinish?(request)
    }

    /// Calls ``requestDidResume``.
    open func requestDidResume(_ request: Request) {
        requestDidResume?(request)
    }

    /// Calls ``requestDidResumeTask``.
    open func request(_ request: Request, didResumeTask task: URLSessionTask) {
        requestDidResumeTask?(request, task)
    }

    /// Calls ``requestDidSuspend``.
    open func requestDidSuspend(_ request: Request) {
        requestDidSuspend?(request)
    }

    /// Calls ``requestDidSuspendTask``.
    open func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        requestDidSuspendTask?(request, task)
    }

    /// Calls ``requestDidCancel``.
    open func requestDidCancel(_ request: Request) {
        requestDidCancel?(request)
    }

    /// Calls ``requestDidCancelTask``.
    open func request(_ request: Request, didCancelTask task: URLSessionTask) {
        requestDidCancelTask?(request, task)
    }

    /// Calls ``requestDidValidateRequestResponseDataWithResult``.
    @preconcurrency
    open func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result)
    }

    /// Calls ``requestDidParseResponse``.
    open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        requestDidParseResponse?(request, response)
    }

    /// Calls ``requestDidValidateRequestResponseWithResult``.
    @preconcurrency
    open func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result)
    }

    /// Calls ``requestDidCreateUploadable``.
    open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        requestDidCreateUploadable?(request, uploadable)
    }

    /// Calls ``requestDidFailToCreateUploadableWithError``.
    open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        requestDidFailToCreateUploadableWithError?(request, error)
    }

    /// Calls ``requestDidProvideInputStream``.
    open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        requestDidProvideInputStream?(request, stream)
    }

    /// Calls ``requestDidFinishDownloadingUsingTaskWithResult``.
    open func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        requestDidFinishDownloadingUsingTaskWithResult?(request, task, result)
    }

    /// Calls ``requestDidCreateDestinationURL``.
    open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        requestDidCreateDestinationURL?(request, url)
    }

    /// Calls ``requestDidValidateRequestResponseFileURLWithResult``.
    @preconcurrency
    open func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result)
    }

    /// Calls ``requestDidParseDownloadResponse``.
    open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        requestDidParseDownloadResponse?(request, response)
    }
}
