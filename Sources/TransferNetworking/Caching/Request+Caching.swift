import Foundation
import FoundationNetworking
import TransferEngine

// The cache's place in the life of a request: before the network is asked, instead of it, and after it.
extension Request {
    /// Asks `handler` whether and how answers are stored, instead of the session's.
    ///
    /// Only the answers to data requests are stored: not those to uploads, downloads and streams.
    ///
    /// - Precondition: The request has none yet.
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

    /// Settles an attempt with what is stored. Called with an end of the network where that was asked.
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

    /// Stores what an attempt brought, where that may be, and goes on. Handlers are other people's code, and waited for.
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
        // A request that is cancelled doesn't wait for its handler.
        record.gate.close()
        if read({ $0.isCancelled }) { _ = record.gate.decide() }
        record.gate.whenDecided(proceed)
        let given = UnsharedResponse(response: proposed)
        session.rootQueue.async {
            handler.dataTask(task, willCacheResponse: given.response) { result in
                guard !record.gate.hasDecision else { return }
                let stored = result.flatMap { result in
                    cached.replaced(response) { response.replaced(by: result, proposed: given.response, of: $0) }
                }
                if let stored { cached.store(stored) }
                _ = record.gate.decide()
            }
        }
    }
}

/// What a handler is given.
private struct UnsharedResponse: @unchecked Sendable {  // Constant; handed from one queue to the next.
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
