import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine
import TransferEventLoop

// From one action of the life cycle to the next event; everything here runs on the session's queue.
extension Request {
    func perform(_ action: RequestLifecycle.Action) {
        switch action {
        case .none: break
        case .prepare: prepare()
        case .startTransfer: startTransfer()
        case .suspendTransfer: read { $0.running }?.handle.suspend()
        case .resumeTransfer: read { $0.running }?.handle.resume()
        case .cancelTransfer: read { $0.running }?.handle.cancel()
        case .askRetriers: askRetriers()
        case .awaitRetry: awaitRetry()
        case .settle: settle()
        case .deliver: for delivery in update({ state in state.deliveries.take() }) { delivery() }
        }
    }

    // MARK: Preparing

    private func prepare() {
        let attempt = update { state in
            state.attempt += 1
            if !state.isCancelled { state.error = nil }
            return state.attempt
        }
        let made: URLRequest
        do {
            made = try makeURLRequest()
        } catch {
            return fail(error.asAFError { .createURLRequestFailed(error: $0) }, attempt)
        }
        update { $0.requests.append(made) }
        let chain = session.chain(for: self)
        guard !chain.interceptors.isEmpty else { return open(made, attempt) }
        chain.adapt(made, for: session) { [self] result in
            session.rootQueue.async { self.adapted(result, attempt) }
        }
    }

    private func adapted(_ result: Result<URLRequest, any Error>, _ attempt: Int) {
        let isFirst = update { state in
            guard state.attempt == attempt, state.adaptedAttempt < attempt, state.lifecycle.isPreparing else {
                return false
            }
            state.adaptedAttempt = attempt
            return true
        }
        guard isFirst else { return }
        switch result {
        case .failure(let error): fail(.requestAdaptationFailed(error: error), attempt)
        case .success(let request):
            update { $0.requests.append(request) }
            open(request, attempt)
        }
    }

    private func open(_ request: URLRequest, _ attempt: Int) {
        guard touchesFiles else { return opened(Result { try makeTransfer(request) }, attempt) }
        do {
            try session.engine().workers.execute { [self] in
                let result = Result { try makeTransfer(request) }
                session.rootQueue.async { self.opened(result, attempt) }
            }
        } catch {
            opened(.failure(error), attempt)
        }
    }

    private func opened(_ result: Result<Transfer, any Error>, _ attempt: Int) {
        // Cancelled while files were opened: the end has been settled, so nobody else would let go of them.
        if read({ $0.isCancelled }) { return release() }
        switch result {
        case .failure(let error): fail(error.asAFError { .createUploadableFailed(error: $0) }, attempt)
        case .success(let transfer): send(.prepared, attempt: attempt) { $0.transfer = transfer }
        }
    }

    private func fail(_ error: AFError, _ attempt: Int) {
        send(.attemptEnded(failed: true), attempt: attempt) { state in
            if !state.isCancelled { state.error = error }
        }
    }

    // MARK: Transferring

    private func startTransfer() {
        let (prepared, attempt) = update { state in (state.transfer.take(), state.attempt) }
        guard let prepared else { return }
        let engine: ExchangeEngine
        do {
            engine = try session.engine()
        } catch {
            let cause = error as? TransferError ?? TransferError(.internalFault, "\(error)")
            return fail(.sessionTaskFailed(error: URLError(cause)), attempt)
        }
        let meter = ExchangeMeter()
        let start = BodyStartNote()
        let handle = engine.start(prepared.exchange, meter: meter, makeSink: prepared.makeSink) { [self] event in
            switch event {
            case .responded(let body): start.note(body)
            case .restarted: break
            case .ended(let outcome):
                let end = TransferEnd(outcome: outcome, start: start.body)
                session.rootQueue.async { self.transferEnded(end, attempt) }
            }
        }
        update { state in
            state.running = RunningTransfer(handle: handle, meter: meter, bodyLength: prepared.exchange.body.length)
        }
        reportProgress(of: attempt)
    }

    private func transferEnded(_ end: TransferEnd, _ attempt: Int) {
        guard touchesFiles, let workers = try? session.engine().workers else { return took(take(end), end, attempt) }
        workers.execute { [self] in
            let failure = take(end)
            session.rootQueue.async { self.took(failure, end, attempt) }
        }
    }

    private func took(_ failure: AFError?, _ end: TransferEnd, _ attempt: Int) {
        let response = end.response
        reportFinalProgress(end)
        update { state in
            state.running = nil
            state.response = response
        }
        var error = failure
        if error == nil, let response {
            do { try validate(response) } catch let failed {
                error = failed.asAFError { .responseValidationFailed(reason: .customValidationFailed(error: $0)) }
            }
        }
        send(.attemptEnded(failed: error != nil), attempt: attempt) { state in
            if !state.isCancelled { state.error = error }
        }
    }

    // MARK: Retrying

    private func askRetriers() {
        let (error, attempt) = read { ($0.error, $0.attempt) }
        let chain = session.chain(for: self)
        guard let error, !chain.interceptors.isEmpty else { return send(.retryDecided(false), attempt: attempt) }
        chain.retry(self, for: session, dueTo: error) { [self] result in
            switch result {
            case .retry: decideRetry(after: 0, attempt)
            case .retryWithDelay(let delay): decideRetry(after: delay, attempt)
            case .doNotRetry: send(.retryDecided(false), attempt: attempt)
            case .doNotRetryWithError(let retryError):
                send(.retryDecided(false), attempt: attempt) { state in
                    guard state.lifecycle.isDeciding else { return }
                    state.error = .requestRetryFailed(retryError: retryError, originalError: error)
                }
            }
        }
    }

    private func decideRetry(after delay: TimeInterval, _ attempt: Int) {
        send(.retryDecided(true), attempt: attempt) { state in
            guard state.lifecycle.isDeciding else { return }
            state.retryDelay = delay
        }
    }

    private func awaitRetry() {
        let (delay, attempt) = update { state in
            state.retryCount += 1
            return (state.retryDelay, state.attempt)
        }
        guard delay > 0 else { return send(.retryDue, attempt: attempt) }
        session.rootQueue.asyncAfter(deadline: .now() + min(delay, 1e8)) { self.send(.retryDue, attempt: attempt) }
    }

    // MARK: Ending

    private func settle() {
        release()
        let body = body
        let (handlers, ended) = update { state in
            // Of an attempt that never began: it may hold a file open.
            state.transfer = nil
            return (
                state.handlers.take(),
                EndedRequest(
                    request: state.requests.last, response: state.response, error: state.error, body: body)
            )
        }
        guard !handlers.isEmpty else { return settled() }
        session.serializationQueue.async { [self] in
            let deliveries = handlers.map { $0(ended) }
            session.rootQueue.async {
                self.update { $0.deliveries += deliveries }
                self.settled()
            }
        }
    }

    private func settled() {
        let hasMore = read { !$0.handlers.isEmpty }
        send(.settled(hasMore: hasMore))
    }
}

extension RequestLifecycle {
    var isPreparing: Bool { state == .resumed(.preparing) || state == .suspended(.preparing) }
    var isDeciding: Bool { state == .resumed(.deciding) || state == .suspended(.deciding) }
}

extension Array {
    /// What is in it; it's empty afterwards.
    mutating func take() -> [Element] { exchange(&self, with: []) }
}

private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
    let old = value
    value = new
    return old
}
