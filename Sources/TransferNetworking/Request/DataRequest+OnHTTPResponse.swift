public import Dispatch
import Foundation
public import FoundationNetworking

/// A request whose program can examine the head of a response before the body is accepted.
protocol RespondingRequest: Request {
    func onResponse(_ change: (inout ResponseHook) -> Void)
}

extension DataRequest: RespondingRequest {}
extension DataStreamRequest: RespondingRequest {}

extension RespondingRequest {
    func decide(on queue: DispatchQueue?, _ handler: @escaping ResponseHook.Handler) -> Self {
        onResponse { $0.decide = (queue, handler) }
        return self
    }

    func decide(_ handler: @escaping @Sendable (HTTPURLResponse) async -> Request.ResponseDisposition) -> Self {
        decide(on: nil) { response, decided in Task { decided(await handler(response)) } }
    }
}

extension DataRequest {
    /// Calls `handler` on `queue` with the head of each response. The body is read only after the handler has passed
    /// its decision about the request to the completion. A later call replaces the handler.
    ///
    /// A handler that does not call the completion within the time-out of the request
    /// (``SessionSettings/requestTimeout``) ends the request with `URLError.timedOut`.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse,
                _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self { decide(on: queue, handler) }

    /// Calls `handler` on `queue` with the head of each response. A later call replaces the handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
    ) -> Self {
        decide(on: queue) { response, decided in
            handler(response)
            decided(.allow)
        }
    }

    /// Awaits the decision about the request before the body of each response is read. A later call replaces the
    /// handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self { decide(handler) }

    /// Awaits `handler` before the body of each response is read. A later call replaces the handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void)
        -> Self
    {
        decide { response in
            await handler(response)
            return .allow
        }
    }
}

extension DataStreamRequest {
    /// Calls `handler` on `queue` with the head of each response. The stream is read only after the handler has passed
    /// its decision about the request to the completion. A later call replaces the handler.
    ///
    /// A handler that does not call the completion within the time-out of the request
    /// (``SessionSettings/requestTimeout``) ends the request with `URLError.timedOut`.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse,
                _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self { decide(on: queue, handler) }

    /// Calls `handler` on `queue` with the head of each response. A later call replaces the handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
    ) -> Self {
        decide(on: queue) { response, decided in
            handler(response)
            decided(.allow)
        }
    }

    /// Awaits the decision about the request before the stream is read. A later call replaces the handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self { decide(handler) }

    /// Awaits `handler` before the stream is read. A later call replaces the handler.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void)
        -> Self
    {
        decide { response in
            await handler(response)
            return .allow
        }
    }
}
