public import Dispatch
import Foundation
public import FoundationNetworking

/// Who is told of what a request makes on its way.
struct RequestHooks: Sendable {
    struct Hook<Value: Sendable>: Sendable {
        let queue: DispatchQueue
        let call: @Sendable (Value) -> Void

        func callAsFunction(_ value: Value) { queue.async { call(value) } }
    }

    var request: Hook<URLRequest>?
    var task: Hook<URLSessionTask>?
    /// Those of streams of values, beside the one of a closure.
    var requestStreams: [Hook<URLRequest>] = []
    var taskStreams: [Hook<URLSessionTask>] = []
    /// Those who wait for a first URL request.
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
    /// Calls `handler` with each URL request, adapted, before it's sent; the last one set counts.
    ///
    /// One that was made before is told at once.
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

    /// Calls `handler` with the task of each attempt; the last one set counts.
    ///
    /// The task shows what happens; what becomes of it is the request's business. One that was made before is told at
    /// once.
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
