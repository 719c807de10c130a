public import FoundationNetworking

/// An interceptor that combines several adapters and retriers.
///
/// Each adapter receives the result of the previous one; the first failure ends the adaptation with its error. The
/// retriers are asked in their order until one decides; `doNotRetry` leaves the decision to the next one.
open class Interceptor: @unchecked Sendable, RequestInterceptor {  // Its properties are constant and Sendable.
    /// The adapters, in the order in which they are called.
    public let adapters: [any RequestAdapter]
    /// The retriers, in the order in which they are asked.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor with two closures.
    @preconcurrency
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        adapters = [Adapter(adaptHandler)]
        retriers = [Retrier(retryHandler)]
    }

    /// Creates an interceptor with one adapter and one retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        adapters = [adapter]
        retriers = [retrier]
    }

    /// Creates an interceptor with any number of parts.
    ///
    /// - Parameters:
    ///   - adapters: The adapters, called in this order.
    ///   - retriers: The retriers, asked in this order.
    ///   - interceptors: The interceptors, called after the adapters and asked after the retriers.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Calls the adapters in their order; the first failure is the result.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let turn: AdaptTurn = { adapter, request, next in adapter.adapt(request, for: session, completion: next) }
        adapters.adaptInTurn(urlRequest, turn, completion)
    }

    /// Calls the adapters in their order; the first failure is the result.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let turn: AdaptTurn = { adapter, request, next in adapter.adapt(request, using: state, completion: next) }
        adapters.adaptInTurn(urlRequest, turn, completion)
    }

    /// Asks the retriers in their order until one decides.
    @preconcurrency
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { retriers.decideInTurn(request, session, error, completion) }
}

extension RequestInterceptor where Self == Interceptor {
    /// Returns an ``Interceptor`` with two closures.
    @preconcurrency
    public static func interceptor(
        adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler
    ) -> Interceptor { Interceptor(adaptHandler: adapter, retryHandler: retrier) }

    /// Returns an ``Interceptor`` with one adapter and one retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// Returns an ``Interceptor`` with many parts; the interceptors come after the adapters and the retriers.
    public static func interceptor(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor { Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors) }
}
