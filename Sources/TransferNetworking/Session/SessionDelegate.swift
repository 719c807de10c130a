public import Foundation
public import FoundationNetworking

/// Carries what a session needs of the surroundings: the file manager.
///
/// A delegate's work happens in the requests themselves here; see ``EventMonitor`` for what can be seen.
open class SessionDelegate: NSObject, URLSessionDelegate, @unchecked Sendable {  // Constant.
    public let fileManager: FileManager

    /// - Parameter fileManager: Used for files that are uploaded, and for the places of downloads.
    public init(fileManager: FileManager = .default) { self.fileManager = fileManager }

    @available(*, unavailable, message: "redirects are decided by a RedirectHandler: Session(redirectHandler:)")
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {}

    /// The one that a request was given, or, where that is nobody's choice, the session's.
    func manager(insteadOf given: FileManager) -> FileManager { given === FileManager.default ? fileManager : given }
}
