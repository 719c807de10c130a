public import Foundation
public import FoundationNetworking

/// The session, as far as a request asks something of it.
@preconcurrency
public protocol RequestDelegate: AnyObject, Sendable {
    /// The configuration that tasks are made with.
    var sessionConfiguration: URLSessionConfiguration { get }
    /// Whether the first response handler starts a request.
    var startImmediately: Bool { get }
    /// The request may be set up now: its URL request is made and adapted.
    func readyToPerform(request: Request)
    /// The request is over, and the session need not hold it any more.
    func cleanup(after request: Request)
    /// Asks the retriers of the request and of the session about a failure.
    func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
    /// Has a request whose retriers are being asked tried again.
    ///
    /// - Parameter timeDelay: Seconds; `nil` for at once.
    func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}

extension Session: RequestDelegate {
    public var sessionConfiguration: URLSessionConfiguration { configuration }
    public var startImmediately: Bool { startRequestsImmediately }

    public func readyToPerform(request: Request) { request.send(.setUp) }

    public func cleanup(after request: Request) {
        if request.isFinished || request.isCancelled { _ = active.remove(request) }
    }

    public func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        rootQueue.async { [self] in
            chain(for: request).retry(request, for: self, dueTo: error, completion: completion)
        }
    }

    public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
        request.decideRetry(after: timeDelay ?? 0, request.read { $0.attempt })
    }
}
