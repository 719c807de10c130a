// libcurl has WebSockets as an experiment since 7.86, and by default since 8.11. Debian 12's (7.88) is built without them,
// so that a request would fail on the machine that this library is made for. The compiler explains that instead.

/// Alamofire's WebSocket request; unavailable.
@available(*, unavailable, message: "Debian 12's libcurl has no WebSockets; use a library for them")
public enum WebSocketRequest {}

extension Session {
    /// Alamofire's WebSocket request; unavailable.
    @available(*, unavailable, message: "Debian 12's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        performing convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.

    /// Alamofire's WebSocket request to a URL; unavailable.
    @available(*, unavailable, message: "Debian 12's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        to url: any URLConvertible, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.
}
