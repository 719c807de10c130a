public import Dispatch
import Foundation
public import FoundationNetworking

/// The observers of the URL requests and tasks that a request creates.
struct RequestHooks: Sendable {
    struct Hook<Value: Sendable>: Sendable {
        let queue: DispatchQueue
        let call: @Sendable (Value) -> Void

        func callAsFunction(_ value: Value) { queue.async { call(value) } }
    }

    var request: Hook<URLRequest>?
    var task: Hook<URLSessionTask>?
    /// The hooks of streams, in addition to the hook of a closure.
    var requestStreams: [Hook<URLRequest>] = []
    var taskStreams: [Hook<URLSessionTask>] = []
    /// The hooks that are called for the first URL request only.
    var curl: [Hook<URLRequest>] = []

    func created(_ request: URLRequest) {
        self.request?(request)
        for hook in requestStreams { hook(request) }
        for hook in curl { hook(request) }
    }

    func created(_ record: AttemptRecord, _ request: Request) {
        guard task != nil || !taskStreams.isEmpty else { return }
        let made = record.task(of: request)
        task?(made)
        for hook in taskStreams { hook(made) }
    }
}

extension Request {
    /// Calls `handler` with each adapted URL request before it is sent; a later call replaces the handler.
    ///
    /// The handler is called at once if a URL request exists already.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        let hook = RequestHooks.Hook(queue: queue, call: handler)
        let made = update { state in
            state.hooks.request = hook
            return state.created
        }
        if let made { hook(made) }
        return self
    }

    /// Calls `handler` with the task of each attempt; a later call replaces the handler.
    ///
    /// The task only shows the attempt, which the request controls. The handler is called at once if a task exists
    /// already.
    @preconcurrency
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        let hook = RequestHooks.Hook(queue: queue, call: handler)
        let record = update { state in
            state.hooks.task = hook
            return state.attempts.last
        }
        if let record { hook(record.task(of: self)) }
        return self
    }
}
