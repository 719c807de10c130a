public import Dispatch
public import Foundation
public import FoundationNetworking

/// A monitor made of closures. Set them before the monitor is given to a session.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {  // The closures are set before it's shared.
    public let queue: DispatchQueue

    /// The session was closed; `error` is always `nil`, as sessions are only closed on purpose.
    @preconcurrency
    open var sessionDidBecomeInvalidWithError: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// A server or proxy asks for credentials.
    @preconcurrency
    open var taskDidReceiveChallenge: (@Sendable (URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
    /// More of the body was sent. Bytes; the total is −1 when it isn't known.
    @preconcurrency
    open var taskDidSendBodyData: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    /// The body has to be sent again, from a fresh stream.
    @preconcurrency
    open var taskNeedNewBodyStream: (@Sendable (URLSession, URLSessionTask) -> Void)?
    /// The answer is a redirect that is about to be followed.
    open var taskWillPerformHTTPRedirection:
        (@Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
    /// The measurements of a task are known.
    @preconcurrency
    open var taskDidFinishCollectingMetrics: (@Sendable (URLSession, URLSessionTask, TransferTaskMetrics) -> Void)?
    /// A task ended, well or with a `URLError`.
    @preconcurrency
    open var taskDidComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)?
    /// A task waits until there is a network.
    @preconcurrency
    open var taskIsWaitingForConnectivity: (@Sendable (URLSession, URLSessionTask) -> Void)?
    /// The head of an answer arrived.
    @preconcurrency
    open var dataTaskDidReceiveResponse: (@Sendable (URLSession, URLSessionDataTask, URLResponse) -> Void)?
    /// A piece of an answer's body arrived.
    @preconcurrency
    open var dataTaskDidReceiveData: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)?
    /// An answer is about to be stored in the cache.
    @preconcurrency
    open var dataTaskWillCacheResponse: (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?
    /// A download goes on behind the bytes that were there. The total is −1 when it isn't known.
    @preconcurrency
    open var downloadTaskDidResumeAtOffset: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
    /// More of a file was written. Bytes; the total is −1 when it isn't known.
    @preconcurrency
    open var downloadTaskDidWriteData: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    /// A file is complete, at its temporary place.
    @preconcurrency
    open var downloadTaskDidFinishDownloadingToURL: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> Void)?
    /// The URL request was made, and not adapted yet.
    @preconcurrency
    open var requestDidCreateInitialURLRequest: (@Sendable (Request, URLRequest) -> Void)?
    /// The URL request couldn't be made.
    @preconcurrency
    open var requestDidFailToCreateURLRequestWithError: (@Sendable (Request, AFError) -> Void)?
    /// The adapters have changed the URL request, or passed it on.
    @preconcurrency
    open var requestDidAdaptInitialRequestToAdaptedRequest: (@Sendable (Request, URLRequest, URLRequest) -> Void)?
    /// An adapter refused the URL request.
    @preconcurrency
    open var requestDidFailToAdaptURLRequestWithError: (@Sendable (Request, URLRequest, AFError) -> Void)?
    /// The URL request is the one that will be sent.
    @preconcurrency
    open var requestDidCreateURLRequest: (@Sendable (Request, URLRequest) -> Void)?
    /// An attempt begins.
    @preconcurrency
    open var requestDidCreateTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The measurements of an attempt are known.
    @preconcurrency
    open var requestDidGatherMetrics: (@Sendable (Request, TransferTaskMetrics) -> Void)?
    /// An attempt ended before the network was used.
    @preconcurrency
    open var requestDidFailTaskEarlyWithError: (@Sendable (Request, URLSessionTask, AFError) -> Void)?
    /// An attempt ended.
    @preconcurrency
    open var requestDidCompleteTaskWithError: (@Sendable (Request, URLSessionTask, AFError?) -> Void)?
    /// Another attempt follows.
    @preconcurrency
    open var requestIsRetrying: (@Sendable (Request) -> Void)?
    /// Every handler has its response.
    @preconcurrency
    open var requestDidFinish: (@Sendable (Request) -> Void)?
    /// The request was started, or goes on.
    @preconcurrency
    open var requestDidResume: (@Sendable (Request) -> Void)?
    /// A task was started, or goes on.
    @preconcurrency
    open var requestDidResumeTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The request was suspended.
    @preconcurrency
    open var requestDidSuspend: (@Sendable (Request) -> Void)?
    /// A task was suspended.
    @preconcurrency
    open var requestDidSuspendTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// The request was cancelled.
    @preconcurrency
    open var requestDidCancel: (@Sendable (Request) -> Void)?
    /// A task was cancelled.
    @preconcurrency
    open var requestDidCancelTask: (@Sendable (Request, URLSessionTask) -> Void)?
    /// A rule looked at an answer.
    open var requestDidValidateRequestResponseDataWithResult:
        (@Sendable (DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
    /// The answer was handed on as it came.
    @preconcurrency
    open var requestDidParseResponse: (@Sendable (DataRequest, DataResponse<Data?, AFError>) -> Void)?
    /// A rule looked at the head of a stream.
    open var requestDidValidateRequestResponseWithResult:
        (@Sendable (DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
    /// The body of an upload is ready.
    @preconcurrency
    open var requestDidCreateUploadable: (@Sendable (UploadRequest, UploadRequest.Uploadable) -> Void)?
    /// The body of an upload couldn't be made.
    @preconcurrency
    open var requestDidFailToCreateUploadableWithError: (@Sendable (UploadRequest, AFError) -> Void)?
    /// An upload takes its body from a stream.
    @preconcurrency
    open var requestDidProvideInputStream: (@Sendable (UploadRequest, InputStream) -> Void)?
    /// A file was downloaded, or it failed.
    open var requestDidFinishDownloadingUsingTaskWithResult:
        (@Sendable (DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
    /// The destination of a file is known.
    @preconcurrency
    open var requestDidCreateDestinationURL: (@Sendable (DownloadRequest, URL) -> Void)?
    /// A rule looked at a downloaded answer.
    open var requestDidValidateRequestResponseFileURLWithResult:
        (@Sendable (DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
    /// The file was handed on as it is.
    @preconcurrency
    open var requestDidParseDownloadResponse: (@Sendable (DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?

    /// - Parameter queue: Where the closures are called.
    public init(queue: DispatchQueue = .main) { self.queue = queue }

    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sessionDidBecomeInvalidWithError?(session, error)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
    {
        taskDidReceiveChallenge?(session, task, challenge)
    }

    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        taskNeedNewBodyStream?(session, task)
    }

    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        taskWillPerformHTTPRedirection?(session, task, response, request)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics)
    {
        taskDidFinishCollectingMetrics?(session, task, metrics)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        taskDidComplete?(session, task, error)
    }

    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        taskIsWaitingForConnectivity?(session, task)
    }

    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        dataTaskDidReceiveResponse?(session, dataTask, response)
    }

    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTaskDidReceiveData?(session, dataTask, data)
    }

    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        dataTaskWillCacheResponse?(session, dataTask, proposedResponse)
    }

    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadTaskDidWriteData?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location)
    }

    open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        requestDidCreateInitialURLRequest?(request, urlRequest)
    }

    open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        requestDidFailToCreateURLRequestWithError?(request, error)
    }

    open func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest)
    }

    open func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
    {
        requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
    }

    open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        requestDidCreateURLRequest?(request, urlRequest)
    }

    open func request(_ request: Request, didCreateTask task: URLSessionTask) {
        requestDidCreateTask?(request, task)
    }

    open func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics) {
        requestDidGatherMetrics?(request, metrics)
    }

    open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        requestDidFailTaskEarlyWithError?(request, task, error)
    }

    open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        requestDidCompleteTaskWithError?(request, task, error)
    }

    open func requestIsRetrying(_ request: Request) {
        requestIsRetrying?(request)
    }

    open func requestDidFinish(_ request: Request) {
        requestDidFinish?(request)
    }

    open func requestDidResume(_ request: Request) {
        requestDidResume?(request)
    }

    open func request(_ request: Request, didResumeTask task: URLSessionTask) {
        requestDidResumeTask?(request, task)
    }

    open func requestDidSuspend(_ request: Request) {
        requestDidSuspend?(request)
    }

    open func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        requestDidSuspendTask?(request, task)
    }

    open func requestDidCancel(_ request: Request) {
        requestDidCancel?(request)
    }

    open func request(_ request: Request, didCancelTask task: URLSessionTask) {
        requestDidCancelTask?(request, task)
    }

    @preconcurrency
    open func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result)
    }

    open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        requestDidParseResponse?(request, response)
    }

    @preconcurrency
    open func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result)
    }

    open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        requestDidCreateUploadable?(request, uploadable)
    }

    open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        requestDidFailToCreateUploadableWithError?(request, error)
    }

    open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        requestDidProvideInputStream?(request, stream)
    }

    open func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        requestDidFinishDownloadingUsingTaskWithResult?(request, task, result)
    }

    open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        requestDidCreateDestinationURL?(request, url)
    }

    @preconcurrency
    open func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result)
    }

    open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        requestDidParseDownloadResponse?(request, response)
    }
}
