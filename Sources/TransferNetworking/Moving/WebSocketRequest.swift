// WebSockets are no part of the documents, and libcurl has them from 7.86 on only as an experiment that distributions
// leave out: the names answer with that.

@available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
public enum WebSocketRequest {}

extension Session {
    @available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        performing convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.

    @available(*, unavailable, message: "the system's libcurl has no WebSockets; use a library for them")
    public func webSocketRequest(
        to url: any URLConvertible, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> Never { fatalError("unavailable") }  // The compiler refuses each use; a function needs a body.
}
