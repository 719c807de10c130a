import Dispatch
import Foundation
import FoundationNetworking

// The steps after an attempt: another attempt, or the responses.
extension Request {
    // MARK: Retrying

    func askRetriers() {
        let (error, attempt) = read { ($0.error, $0.attempt) }
        let chain = session.chain(for: self)
        guard let error, !chain.interceptors.isEmpty else { return send(.retryDecided(false), attempt: attempt) }
        ask(chain, about: error, attempt) { [self] refusal in
            send(.retryDecided(false), attempt: attempt) { state in
                guard let refusal, state.lifecycle.isDeciding else { return }
                state.error = .requestRetryFailed(retryError: refusal, originalError: error)
            }
        }
    }

    /// Asks the retriers about responses that could not be serialized, one after the other. Each is a failure like
    /// others.
    func reconsider() {
        let (index, failure, attempt) = read { state in
            let index = state.settled.firstIndex { $0.response.failure != nil && !$0.isDecided }
            return (index, index.flatMap { state.settled[$0].response.failure }, state.attempt)
        }
        guard let index, let failure else { return send(.retryDecided(false), attempt: attempt) }
        ask(session.chain(for: self), about: failure, attempt) { [self] refusal in
            let isWaiting = update { state in
                guard state.attempt == attempt, state.lifecycle.isDeciding, index < state.settled.count else {
                    return false
                }
                state.settled[index].isDecided = true
                state.settled[index].replacement = refusal.map {
                    .requestRetryFailed(retryError: $0, originalError: failure)
                }
                return true
            }
            if isWaiting { reconsider() }
        }
    }

    /// Asks the retriers, which are the program's code and may be slow.
    ///
    /// - Parameter refused: A closure called without a retry, with the error that a retrier gives as the reason.
    private func ask(
        _ chain: InterceptorChain, about error: AFError, _ attempt: Int,
        refused: @escaping @Sendable ((any Error)?) -> Void
    ) {
        session.rootQueue.async { [self] in
            chain.retry(self, for: session, dueTo: error) { [self] result in
                switch result {
                case .retry: decideRetry(after: 0, attempt)
                case .retryWithDelay(let delay): decideRetry(after: delay, attempt)
                case .doNotRetry: refused(nil)
                case .doNotRetryWithError(let retryError): refused(retryError)
                }
            }
        }
    }

    func decideRetry(after delay: TimeInterval, _ attempt: Int) {
        send(.retryDecided(true), attempt: attempt) { state in
            if state.lifecycle.isDeciding { state.retryDelay = delay }
        }
    }

    func awaitRetry() {
        let (delay, attempt) = update { state in
            state.retryCount += 1
            // Handlers whose responses are discarded wait for the next ones.
            state.handlers = state.settled.map(\.handler) + state.handlers
            state.settled = []
            return (state.retryDelay, state.attempt)
        }
        emit(MonitorEvent { [self] in $0.requestIsRetrying(self) })
        guard delay > 0 else { return send(.retryDue, attempt: attempt) }
        // The reference is weak, as the session holds running requests and a cancelled one must not stay until then.
        session.rootQueue.asyncAfter(deadline: .now() + min(delay, 1e8)) { [weak self] in
            self?.send(.retryDue, attempt: attempt)
        }
    }

    // MARK: Ending

    func settle() {
        endUnusedTask()
        release()
        // The monitors hear of the end before the responses are serialized, as in Alamofire.
        tellFinish()
        let body = body
        // The transfer of an attempt that never began may hold a file open. It is released outside the lock, as the
        // release may start another request here.
        _ = update { state in (state.transfer.take(), state.slot.take()) }
        let (handlers, record, request, error) = update { state in
            (state.handlers.take(), state.lastAttempt, state.requests.last, state.error)
        }
        guard !handlers.isEmpty else { return settled([]) }
        let ended = EndedRequest(
            request: request, answer: record.map { .attempt($0) } ?? .made(nil, nil), error: error, body: body)
        if handlers.allSatisfy(\.isQuick) { return settled(handlers.map { ($0, $0.settle(ended)) }) }
        session.serializationQueue.async { [self] in settled(handlers.map { ($0, $0.settle(ended)) }) }
    }

    private func settled(_ made: [(ResponseHandler, SettledResponse)]) {
        for (_, response) in made { if let parsed = response.parsed { emit(parsed) } }
        // Most responses have no failure, and need no list of retriers.
        let isAsked = made.contains { $1.failure != nil } && !session.chain(for: self).interceptors.isEmpty
        let (failed, hasMore) = update { state in
            state.settled += made.map { SettledHandler(handler: $0, response: $1) }
            return (isAsked && !state.isCancelled, !state.handlers.isEmpty)
        }
        send(.settled(failed: failed, hasMore: hasMore))
    }

    func deliver() {
        ended()
        tellFinish()
        session.active.remove(self)
        for settled in update({ state in state.settled.take() }) {
            settled.response.deliver(settled.replacement)
        }
        for observer in update({ state in state.endObservers.take() }) { observer() }
    }

    /// Reports the end once, for cancelled requests too. A handler that is added later causes no second end, but another
    /// attempt does.
    private func tellFinish() {
        let isNews = update { state in
            defer { state.finishedAttempt = state.attempt }
            return state.finishedAttempt != state.attempt
        }
        if isNews { emit(MonitorEvent { [self] in $0.requestDidFinish(self) }) }
    }

    /// Calls `observer` when the request has ended, or at once if it has.
    func onEnd(_ observer: @escaping @Sendable () -> Void) {
        let isOver = update { state in
            if !state.isOver { state.endObservers.append(observer) }
            return state.isOver
        }
        if isOver { observer() }
    }
}

extension Array {
    /// Returns all elements and empties the array.
    mutating func take() -> [Element] {
        let all = self
        self = []
        return all
    }
}
