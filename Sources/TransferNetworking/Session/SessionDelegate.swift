public import Foundation
public import FoundationNetworking

/// The holder of a session's file manager.
///
/// The requests themselves do the work that delegates do elsewhere. An ``EventMonitor`` observes them.
open class SessionDelegate: NSObject, URLSessionDelegate, @unchecked Sendable {  // Its one property is constant.
    /// The file manager for uploaded files and for the places of downloads.
    public let fileManager: FileManager

    /// Creates a delegate.
    ///
    /// - Parameter fileManager: The file manager for uploaded files and for the places of downloads.
    public init(fileManager: FileManager = .default) { self.fileManager = fileManager }

    /// The delegate's decision about a redirect; unavailable.
    @available(*, unavailable, message: "redirects are decided by a RedirectHandler: Session(redirectHandler:)")
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {}

    /// The delegate's answer to a challenge; unavailable.
    @available(
        *, unavailable,
        message: "servers are judged by Session(serverTrustManager:), and request.authenticate(with:) has the password"
    )
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}

    /// The delegate's new stream for a body that is sent again; unavailable.
    @available(*, unavailable, message: "upload(streamedBy:) makes a stream for each attempt")
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {}

    /// The delegate's decision about a response that is stored; unavailable.
    @available(*, unavailable, message: "a CachedResponseHandler decides: Session(cachedResponseHandler:)")
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {}

    /// The delegate's notification of received bytes; unavailable.
    @available(*, unavailable, message: "an EventMonitor is notified: Session(eventMonitors:)")
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    /// The delegate's notification of a task's end; unavailable.
    @available(*, unavailable, message: "an EventMonitor is notified: Session(eventMonitors:)")
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

    /// The delegate's notification of a download's end; unavailable.
    @available(*, unavailable, message: "an EventMonitor is notified: Session(eventMonitors:)")
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}

    /// Returns the file manager that was passed for a request, or the session's in place of the default one.
    func manager(insteadOf given: FileManager) -> FileManager { given === FileManager.default ? fileManager : given }
}
