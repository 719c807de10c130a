import Dispatch
import Foundation
import FoundationNetworking

extension Request {
    /// Whether a request whose answer's head is known goes on.
    public enum ResponseDisposition: Sendable {
        /// The body is taken.
        case allow
        /// The request is cancelled, as by ``Request/cancel()``.
        case cancel
    }
}

/// Who looks at the head of an answer before its body is taken.
struct ResponseHook: Sendable {
    typealias Handler = @Sendable (HTTPURLResponse, @escaping @Sendable (Request.ResponseDisposition) -> Void) -> Void

    /// Decides whether the request goes on. The last one set counts.
    var decide: (queue: DispatchQueue?, handler: Handler)?
    /// Only looks on.
    var streams: [@Sendable (HTTPURLResponse) -> Void] = []

    /// Called on the loop: the body waits behind the record's gate until the decision.
    func responded(_ record: AttemptRecord, _ request: Request) {
        request.emitResponse(record)
        guard decide != nil || !streams.isEmpty else { return }
        let streams = streams
        guard let (queue, handler) = decide else {
            // Here and now: on the way over another queue, the end of the request could overtake the head.
            if let response = record.response { for stream in streams { stream(response) } }
            return
        }
        record.gate.close()
        let asker = WeakRequest(request)
        (queue ?? request.session.rootQueue).async {
            guard let response = record.response else { return record.proceed() }
            for stream in streams { stream(response) }
            handler(response) { disposition in
                // What is decided about an earlier attempt doesn't concern the one under way.
                if case .cancel = disposition, !record.gate.hasDecision, let request = asker.request,
                    request.isLatest(record)
                {
                    request.cancel()
                }
                // Also by the handler itself, or anybody meanwhile: nothing of the body is delivered any more.
                if asker.request?.isCancelled == true { record.gate.refuse() }
                record.proceed()
            }
        }
    }
}

/// Somebody else's closure must not keep a request.
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
