public import FoundationNetworking

/// A closure that adapts a URL request, as ``RequestAdapter`` does. It must call the completion once, on any thread.
public typealias AdaptHandler =
    @Sendable (
        _ urlRequest: URLRequest, _ session: Session,
        _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// An adapter made from a closure.
open class Adapter: @unchecked Sendable, RequestInterceptor {  // Its one property is constant and Sendable.
    private let adaptHandler: AdaptHandler

    /// Creates an adapter.
    ///
    /// - Parameter adaptHandler: The closure, called for every attempt of a request.
    @preconcurrency
    public init(_ adaptHandler: @escaping AdaptHandler) { self.adaptHandler = adaptHandler }

    /// Passes the URL request to the closure.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adaptHandler(urlRequest, session, completion) }

    /// Passes the URL request to the form without the state. The protocol's default would not call overrides in
    /// subclasses.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adapt(urlRequest, for: state.session, completion: completion) }
}

extension RequestAdapter where Self == Adapter {
    /// Returns an ``Adapter`` with a closure.
    @preconcurrency
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}
