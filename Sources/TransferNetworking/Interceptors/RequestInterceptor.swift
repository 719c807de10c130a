public import Foundation
public import FoundationNetworking

/// Changes URL requests before they go out.
public protocol RequestAdapter: Sendable {
    /// - Parameter completion: To be called once, on any thread, with the changed request or why there is none.
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)
}

/// Decides whether a failed request is made again.
public protocol RequestRetrier: Sendable {
    /// - Parameters:
    ///   - error: Usually an `AFError`.
    ///   - completion: To be called once, on any thread.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

/// An adapter and a retrier; each half does nothing unless it's implemented.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { completion(.success(urlRequest)) }

    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { completion(.doNotRetry) }
}

/// What comes of a failure.
public enum RetryResult: Sendable {
    case retry
    /// Seconds.
    case retryWithDelay(TimeInterval)
    case doNotRetry
    /// Ends the request with this error, whatever other retriers would say.
    case doNotRetryWithError(any Error)
}
