// Alamofire's WebSockets are undocumented. libcurl has WebSockets since 7.86 only as an experiment, which distributions
// leave out. The compiler explains that to users of these names.

/// Alamofire's WebSocket request; unavailable.
@available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
public enum WebSocketRequest {}

extension Session {
    /// Alamofire's WebSocket request; unavailable.
    @available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        performing convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.

    /// Alamofire's WebSocket request to a URL; unavailable.
    @available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        to url: any URLConvertible, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.
}
