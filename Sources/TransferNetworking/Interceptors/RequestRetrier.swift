public import Foundation

/// Decides whether a failed request is made again.
@preconcurrency
public protocol RequestRetrier: Sendable {
    /// - Parameters:
    ///   - request: The one that failed; `retryCount` says how often it was made again already.
    ///   - session: Whose request it is.
    ///   - error: Usually an `AFError`.
    ///   - completion: To be called once, on any thread.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

/// A retrier's decision about a failure.
public enum RetryResult: Sendable {
    /// The request is made again at once.
    case retry
    /// The request is made again after so many seconds.
    case retryWithDelay(TimeInterval)
    /// This retrier doesn't ask for a retry; the next one is asked.
    case doNotRetry
    /// Ends the request with this error, whatever other retriers would say.
    case doNotRetryWithError(any Error)
}

typealias RetryCompletion = @Sendable (RetryResult) -> Void
