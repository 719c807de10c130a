public import Dispatch
public import Foundation
public import FoundationNetworking

/// Sees what happens inside a session and its requests, in order.
///
/// Every method has an implementation that does nothing. All are called on ``queue``, after the fact: a slow monitor
/// holds up nothing but itself. The names, and `URLSession` in the signatures, are Foundation's; that session only
/// carries the configuration, nothing is ever sent through it.
@preconcurrency
public protocol EventMonitor: Sendable {
    /// Where the monitor is called; the main queue by default. A serial one keeps the order.
    var queue: DispatchQueue { get }

    // MARK: Tasks

    /// The session was closed; `error` is always `nil`, as sessions are only closed on purpose.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    /// A server or proxy asks for credentials.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
    /// More of the body was sent. Bytes; the total is −1 when it isn't known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    /// The body has to be sent again, from a fresh stream.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)
    /// The answer is a redirect that is about to be followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)
    /// What the network did is known.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TransferTaskMetrics)
    /// A task ended, well or with a `URLError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    /// A task waits until there is a network.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    /// The head of an answer arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)
    /// A piece of an answer's body arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    /// An answer is about to be stored in the cache.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)
    /// A download goes on behind the bytes that were there. The total is −1 when it isn't known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
    /// More of a file was written. Bytes; the total is −1 when it isn't known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
    /// A file is complete, at its temporary place.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    // MARK: Requests

    /// The URL request was made, and not adapted yet.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
    /// The URL request couldn't be made.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
    /// The adapters have changed the URL request, or passed it on.
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
    /// An adapter refused the URL request.
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
    /// The URL request is the one that will be sent.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
    /// An attempt begins.
    func request(_ request: Request, didCreateTask task: URLSessionTask)
    /// What the network did for an attempt is known.
    func request(_ request: Request, didGatherMetrics metrics: TransferTaskMetrics)
    /// An attempt ended before the network was used.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
    /// An attempt ended.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
    /// Another attempt follows.
    func requestIsRetrying(_ request: Request)
    /// Every handler has its response.
    func requestDidFinish(_ request: Request)
    /// The request was started, or goes on.
    func requestDidResume(_ request: Request)
    /// A task was started, or goes on.
    func request(_ request: Request, didResumeTask task: URLSessionTask)
    /// The request was suspended.
    func requestDidSuspend(_ request: Request)
    /// A task was suspended.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)
    /// The request was cancelled.
    func requestDidCancel(_ request: Request)
    /// A task was cancelled.
    func request(_ request: Request, didCancelTask task: URLSessionTask)
    /// A rule looked at an answer.
    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult)
    /// The answer was handed on as it came.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
    /// A serializer made a value of an answer, or failed to.
    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
    where Value: Sendable
    /// A rule looked at the head of a stream.
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult)
    /// A serializer made a value of a piece of a stream, or failed to.
    func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)
    where Value: Sendable
    /// What an upload sends is ready.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
    /// What an upload sends couldn't be made.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
    /// An upload takes its body from a stream.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)
    /// A file was downloaded, or it failed.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)
    /// The destination of a file is known.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
    /// A rule looked at a downloaded answer.
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult)
    /// The file was handed on as it is.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
    /// A serializer made a value of a file, or failed to.
    func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
    where Value: Sendable
}
