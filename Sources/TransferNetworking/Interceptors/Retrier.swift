/// Decides about a retry, as ``RequestRetrier`` does: the completion is to be called once, on any thread.
public typealias RetryHandler =
    @Sendable (
        _ request: Request, _ session: Session, _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void

/// A retrier made of a closure.
open class Retrier: @unchecked Sendable, RequestInterceptor {  // Its one property is constant and Sendable.
    private let retryHandler: RetryHandler

    /// - Parameter retryHandler: Called for every failure of a request.
    @preconcurrency
    public init(_ retryHandler: @escaping RetryHandler) { self.retryHandler = retryHandler }

    @preconcurrency
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { retryHandler(request, session, error, completion) }
}

extension RequestRetrier where Self == Retrier {
    /// A ``Retrier`` of a closure.
    @preconcurrency
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}
