import Foundation
import FoundationNetworking
import TransferEngine

// The use of the cache by a request: before the network, in place of it, and after it.
extension Request {
    /// Asks `handler`, in place of the session's handler, whether and how responses are stored.
    ///
    /// Only responses to data requests are stored, not those to uploads, downloads and streams. A response about which
    /// the handler does not decide within the time-out of the request (``SessionSettings/requestTimeout``) is not
    /// stored.
    ///
    /// - Precondition: The request has no handler yet.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        update { state in
            precondition(state.own.cachedResponseHandler == nil, "a request has one cached response handler")
            state.own.cachedResponseHandler = handler
        }
        return self
    }

    private var effectiveCachedResponseHandler: (any CachedResponseHandler)? {
        read { $0.own.cachedResponseHandler } ?? session.settings.cachedResponseHandler
    }

    // MARK: Instead of the network

    /// Settles an attempt with a stored response. `network` is the end of the exchange, if the network was asked first.
    func answer(
        _ answer: StoredAnswer, _ record: AttemptRecord,
        after network: ExchangeOutcome? = nil, then ended: @escaping @Sendable (TransferEnd, AttemptRecord) -> Void
    ) {
        record.cached?.noteAnswered()
        let url = record.urlRequest.url?.absoluteString ?? ""
        let start = BodyStart(head: answer.head, offset: 0, total: Int64(answer.body.count), url: url)
        record.responded(start)
        responded(record)
        if read({ $0.isCancelled }) { _ = record.gate.decide() }
        record.gate.whenDecided { [self] in
            received(answer.body, record)
            var outcome = ExchangeOutcome(finalURL: url, answeredBy: start)
            if let network { (outcome.metrics, outcome.hops) = (network.metrics, network.hops) }
            ended(record.ended(outcome), record)
        }
    }

    // MARK: After the network

    /// Stores the response of an attempt where the cache allows it, then calls `proceed`. Handlers are the program's
    /// code and are waited for.
    func store(_ end: TransferEnd, _ record: AttemptRecord, then proceed: @escaping @Sendable () -> Void) {
        let handler = record.cached == nil ? nil : effectiveCachedResponseHandler
        guard let cached = record.cached, !cached.isAnswered,
            let response = cached.proposal(end.outcome, body: receivedBody, isWanted: handler != nil)
        else { return proceed() }
        guard handler != nil || isMonitored, let proposed = CachedURLResponse(response) else {
            cached.store(response)
            return proceed()
        }
        emit(record) { $0.dataTask($1, $2, willCacheResponse: proposed) }
        guard let handler, let task = record.task(of: self) as? URLSessionDataTask else {
            cached.store(response)
            return proceed()
        }
        // A cancelled request does not wait for its handler.
        record.gate.close()
        if read({ $0.isCancelled }) { _ = record.gate.decide() }
        record.gate.whenDecided(proceed)
        let (given, decision) = (UnsharedResponse(response: proposed), PendingDecision())
        session.rootQueue.async { [self] in
            handler.dataTask(task, willCacheResponse: given.response) { result in
                guard decision.take(), !record.gate.hasDecision else { return }
                let stored = result.flatMap { result in
                    cached.replaced(response) { response.replaced(by: result, proposed: given.response, of: $0) }
                }
                if let stored { cached.store(stored) }
                _ = record.gate.decide()
            }
            guard !record.gate.hasDecision else { return }
            bound(decision, of: record) { [weak record] in _ = record?.gate.decide() }
        }
    }
}

/// The response that is passed to a handler.
private struct UnsharedResponse: @unchecked Sendable {  // Constant; passed from one queue to the next.
    let response: CachedURLResponse
}

extension EventMonitor {
    fileprivate func dataTask(
        _ session: URLSession, _ task: URLSessionTask, willCacheResponse response: CachedURLResponse
    ) {
        guard let task = task as? URLSessionDataTask else { return }
        urlSession(session, dataTask: task, willCacheResponse: response)
    }
}
