public import FoundationNetworking

/// Several adapters and retriers as one.
///
/// Adapters are called one after the other, each with what the one before made; the first failure ends the adaptation
/// with its error. Retriers are asked in their order until one decides: with `doNotRetry` it leaves the decision to the
/// next.
open class Interceptor: @unchecked Sendable, RequestInterceptor {  // Its properties are constant and Sendable.
    /// In the order in which they are called.
    public let adapters: [any RequestAdapter]
    /// In the order in which they are asked.
    public let retriers: [any RequestRetrier]

    /// Makes an interceptor of two closures.
    @preconcurrency
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        adapters = [Adapter(adaptHandler)]
        retriers = [Retrier(retryHandler)]
    }

    /// Makes an interceptor of one adapter and one retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        adapters = [adapter]
        retriers = [retrier]
    }

    /// - Parameter interceptors: Called after the adapters and asked after the retriers.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let turn: AdaptTurn = { adapter, request, next in adapter.adapt(request, for: session, completion: next) }
        adapters.adaptInTurn(urlRequest, turn, completion)
    }

    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let turn: AdaptTurn = { adapter, request, next in adapter.adapt(request, using: state, completion: next) }
        adapters.adaptInTurn(urlRequest, turn, completion)
    }

    @preconcurrency
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { retriers.decideInTurn(request, session, error, completion) }
}

extension RequestInterceptor where Self == Interceptor {
    /// An ``Interceptor`` of two closures.
    @preconcurrency
    public static func interceptor(
        adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler
    ) -> Interceptor { Interceptor(adaptHandler: adapter, retryHandler: retrier) }

    /// An ``Interceptor`` of one adapter and one retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// An ``Interceptor`` of many; the interceptors come after the adapters and the retriers.
    public static func interceptor(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor { Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors) }
}
