public import Foundation
public import FoundationNetworking

/// The services that a session provides to its requests.
@preconcurrency
public protocol RequestDelegate: AnyObject, Sendable {
    /// The configuration of the session's tasks.
    var sessionConfiguration: URLSessionConfiguration { get }
    /// Whether the first response handler starts a request.
    var startImmediately: Bool { get }
    /// Allows the request to prepare its first attempt: its URL request is created and adapted.
    func readyToPerform(request: Request)
    /// Ends the session's hold on a request that has ended.
    func cleanup(after request: Request)
    /// Asks the retriers of the request and of the session about a failure.
    func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
    /// Retries a request whose retriers are being asked.
    ///
    /// - Parameter timeDelay: The delay in seconds; `nil` for none.
    func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}

extension Session: RequestDelegate {
    /// The configuration of the session.
    public var sessionConfiguration: URLSessionConfiguration { configuration }
    /// Whether the first response handler starts a request.
    public var startImmediately: Bool { startRequestsImmediately }

    /// Prepares the request's first attempt.
    public func readyToPerform(request: Request) { request.send(.setUp) }

    /// Ends the session's hold on a request that has ended; has no effect on others.
    public func cleanup(after request: Request) {
        if request.isFinished || request.isCancelled { _ = active.remove(request) }
    }

    /// Asks the retriers of the request and of the session, on the root queue.
    public func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        rootQueue.async { [self] in
            chain(for: request).retry(request, for: self, dueTo: error, completion: completion)
        }
    }

    /// Retries the request after the delay, if its retriers are being asked.
    public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
        request.decideRetry(after: timeDelay ?? 0, request.read { $0.attempt })
    }
}
