public import Dispatch
public import Foundation
public import FoundationNetworking

/// An observer of the events inside a session and its requests, in their order.
///
/// Every method has an implementation that does nothing. All methods are called on ``queue``, after the event, so that
/// a slow monitor delays only itself. The names, and `URLSession` in the signatures, are Foundation's. That
/// `URLSession` only carries the configuration and sends nothing.
@preconcurrency
public protocol EventMonitor: Sendable {
    /// The queue on which the monitor is called; the main queue by default. A serial queue preserves the order.
    var queue: DispatchQueue { get }

    // MARK: Tasks

    /// Reports that the session was closed. The error is always `nil`, as sessions are only closed on purpose.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    /// Reports that a server or proxy asks for credentials.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
    /// Reports that more of the body was sent. The counts are in bytes; the total is −1 if it is unknown.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    /// Reports that the body has to be sent again, from a fresh stream.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)
    /// Reports that a redirect is about to be followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)
    /// Reports the metrics of a task.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics)
    /// Reports that a task ended, with success or with a `URLError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    /// Reports that a task waits until there is a network.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    /// Reports that the head of a response arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)
    /// Reports that a piece of a response's body arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    /// Reports that a response is about to be stored in the cache.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)
    /// Reports that a download continues after existing bytes. The counts are in bytes; the total is −1 if it is
    /// unknown.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
    /// Reports that more of a file was written. The counts are in bytes; the total is −1 if it is unknown.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
    /// Reports that a file is complete, at its temporary place.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    // MARK: Requests

    /// Reports that the URL request was created and not yet adapted.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
    /// Reports that the URL request could not be created.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
    /// Reports that the adapters have changed the URL request, or passed it on.
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
    /// Reports that an adapter refused the URL request.
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
    /// Reports the URL request that will be sent.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
    /// Reports that an attempt begins.
    func request(_ request: Request, didCreateTask task: URLSessionTask)
    /// Reports the metrics of an attempt.
    func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics)
    /// Reports that an attempt ended before it used the network.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
    /// Reports that an attempt ended.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
    /// Reports that the request is retried.
    func requestIsRetrying(_ request: Request)
    /// Reports that every handler has its response.
    func requestDidFinish(_ request: Request)
    /// Reports that the request was started or resumed.
    func requestDidResume(_ request: Request)
    /// Reports that a task was started or resumed.
    func request(_ request: Request, didResumeTask task: URLSessionTask)
    /// Reports that the request was suspended.
    func requestDidSuspend(_ request: Request)
    /// Reports that a task was suspended.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)
    /// Reports that the request was cancelled.
    func requestDidCancel(_ request: Request)
    /// Reports that a task was cancelled.
    func request(_ request: Request, didCancelTask task: URLSessionTask)
    /// Reports that a validation examined a response.
    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult)
    /// Reports that the unserialized response was delivered.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
    /// Reports that a serializer made a value of a response, or failed to.
    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
    where Value: Sendable
    /// Reports that a validation examined the head of a stream.
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult)
    /// Reports that a serializer made a value of a piece of a stream, or failed to.
    func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)
    where Value: Sendable
    /// Reports that the body of an upload is ready.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
    /// Reports that the body of an upload could not be created.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
    /// Reports that an upload takes its body from a stream.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)
    /// Reports that a file was downloaded, or that its download failed.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)
    /// Reports the destination of a file.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
    /// Reports that a validation examined a downloaded response.
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult)
    /// Reports that the unserialized response of a download was delivered.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
    /// Reports that a serializer made a value of a file, or failed to.
    func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
    where Value: Sendable
}
