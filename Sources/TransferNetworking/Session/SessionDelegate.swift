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

    /// Returns the file manager that was passed for a request, or the session's in place of the default one.
    func manager(insteadOf given: FileManager) -> FileManager { given === FileManager.default ? fileManager : given }
}
