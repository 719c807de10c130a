/// A closure that decides about a retry, as ``RequestRetrier`` does. It must call the completion once, on any thread.
public typealias RetryHandler =
    @Sendable (
        _ request: Request, _ session: Session, _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void

/// A retrier made from a closure.
open class Retrier: @unchecked Sendable, RequestInterceptor {  // Its one property is constant and Sendable.
    private let retryHandler: RetryHandler

    /// Creates a retrier.
    ///
    /// - Parameter retryHandler: The closure, called for every failure of a request.
    @preconcurrency
    public init(_ retryHandler: @escaping RetryHandler) { self.retryHandler = retryHandler }

    /// Passes the failure to the closure.
    @preconcurrency
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { retryHandler(request, session, error, completion) }
}

extension RequestRetrier where Self == Retrier {
    /// Returns a ``Retrier`` with a closure.
    @preconcurrency
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}
