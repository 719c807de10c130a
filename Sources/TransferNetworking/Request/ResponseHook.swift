import Dispatch
import Foundation
import FoundationNetworking

extension Request {
    /// The decision about a request after the head of its response.
    public enum ResponseDisposition: Sendable {
        /// Accepts the body.
        case allow
        /// Cancels the request, as by ``Request/cancel()``.
        case cancel
    }
}

/// The handlers that examine the head of a response before its body is accepted.
struct ResponseHook: Sendable {
    typealias Handler = @Sendable (HTTPURLResponse, @escaping @Sendable (Request.ResponseDisposition) -> Void) -> Void

    /// The handler that decides whether the request continues.
    var decide: (queue: DispatchQueue?, handler: Handler)?
    /// The handlers that only observe.
    var streams: [@Sendable (HTTPURLResponse) -> Void] = []

    /// Calls the handlers. Called on the loop; the body waits behind the record's gate until the decision.
    func responded(_ record: AttemptRecord, _ request: Request) {
        request.emitResponse(record)
        guard decide != nil || !streams.isEmpty else { return }
        let streams = streams
        guard let (queue, handler) = decide else {
            // The call is direct, as the end of the request could overtake the head on the way over another queue.
            if let response = record.response { for stream in streams { stream(response) } }
            return
        }
        record.gate.close()
        let (asker, decision) = (WeakRequest(request), PendingDecision())
        request.bound(decision, of: record) { [weak record] in record?.decisionTimedOut() }
        (queue ?? request.session.rootQueue).async {
            guard let response = record.response else {
                if decision.take() { record.proceed() }
                return
            }
            for stream in streams { stream(response) }
            handler(response) { disposition in
                // A second decision, or a late one, must not open the gate for the cache.
                guard decision.take() else { return }
                // A decision about an earlier attempt does not affect the current one.
                if case .cancel = disposition, !record.gate.hasDecision, let request = asker.request,
                    request.isLatest(record)
                {
                    request.cancel()
                }
                // No part of the body is delivered after a cancellation, by the handler or by another caller.
                if asker.request?.isCancelled == true { record.gate.refuse() }
                record.proceed()
            }
        }
    }
}

/// A weak reference to a request, for closures of the program that must not keep it alive.
struct WeakRequest: Sendable {
    private(set) weak var request: Request?
    init(_ request: Request) { self.request = request }
}

extension Request {
    func isLatest(_ record: AttemptRecord) -> Bool { read { $0.attempts.last } === record }

    func emitResponse(_ record: AttemptRecord) {
        guard isMonitored, let response = record.response else { return }
        emit(record) { $0.dataTask($1, $2, didReceive: response) }
    }
}
