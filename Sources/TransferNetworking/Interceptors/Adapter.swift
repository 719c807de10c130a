public import FoundationNetworking

/// Adapts a URL request, as ``RequestAdapter`` does: the completion is to be called once, on any thread.
public typealias AdaptHandler =
    @Sendable (
        _ urlRequest: URLRequest, _ session: Session,
        _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// An adapter made of a closure.
open class Adapter: @unchecked Sendable, RequestInterceptor {  // Its one property is constant and Sendable.
    private let adaptHandler: AdaptHandler

    /// - Parameter adaptHandler: Called for every attempt of a request.
    @preconcurrency
    public init(_ adaptHandler: @escaping AdaptHandler) { self.adaptHandler = adaptHandler }

    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adaptHandler(urlRequest, session, completion) }

    // Not left to the protocol: what a subclass overrides would not be called then.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adapt(urlRequest, for: state.session, completion: completion) }
}

extension RequestAdapter where Self == Adapter {
    /// An ``Adapter`` of a closure.
    @preconcurrency
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}
