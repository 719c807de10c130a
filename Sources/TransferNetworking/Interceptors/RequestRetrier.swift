public import Foundation

/// A retrier that decides whether a failed request is attempted again.
@preconcurrency
public protocol RequestRetrier: Sendable {
    /// Decides about a failed request.
    ///
    /// - Parameters:
    ///   - request: The failed request; `retryCount` is the number of its retries so far.
    ///   - session: The session of the request.
    ///   - error: The failure, usually an `AFError`.
    ///   - completion: Must be called once, on any thread.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

/// A retrier's decision about a failure.
public enum RetryResult: Sendable {
    /// Retries the request at once.
    case retry
    /// Retries the request after a delay in seconds.
    case retryWithDelay(TimeInterval)
    /// Asks for no retry; the next retrier is asked.
    case doNotRetry
    /// Ends the request with this error; no other retrier is asked.
    case doNotRetryWithError(any Error)
}

typealias RetryCompletion = @Sendable (RetryResult) -> Void
