public import Dispatch
import Foundation
public import FoundationNetworking

/// A request that lets the head of its answer be looked at before the body is taken.
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
    /// Calls `handler` on `queue` with the head of each answer; the body isn't read before the handler has called back
    /// with what is to become of the request. The last one set counts.
    ///
    /// A handler that never calls back holds the request for as long as the server lets it.
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

    /// Calls `handler` on `queue` with the head of each answer. The last one set counts.
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

    /// Awaits what is to become of the request, before the body of each answer is read. The last one set counts.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self { decide(handler) }

    /// Awaits `handler` before the body of each answer is read. The last one set counts.
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
    /// Calls `handler` on `queue` with the head of each answer; the stream isn't read before the handler has called
    /// back with what is to become of the request. The last one set counts.
    ///
    /// A handler that never calls back holds the request for as long as the server lets it.
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

    /// Calls `handler` on `queue` with the head of each answer. The last one set counts.
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

    /// Awaits what is to become of the request, before the stream is read. The last one set counts.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self { decide(handler) }

    /// Awaits `handler` before the stream is read. The last one set counts.
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
