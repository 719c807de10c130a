import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine
import TransferEventLoop

// The preparation of an attempt: the URL request is created and adapted, and files are opened.
extension Request {
    func prepare() {
        let attempt = update { state in
            state.attempt += 1
            if state.lifecycle.isPreparing { state.error = nil }
            return state.attempt
        }
        if makesURLRequestQuickly { return make(attempt) }
        session.requestQueue.async { [self] in make(attempt) }
    }

    private func make(_ attempt: Int) {
        // The program's code is not run for a request that was cancelled, or lost its session, while it was queued.
        guard read({ $0.isWanted(attempt) }) else { return }
        let made: URLRequest
        do {
            made = try makeURLRequest()
            try made.validate()
        } catch {
            guard read({ $0.isWanted(attempt) }) else { return }
            let error = error.asAFError { .createURLRequestFailed(error: $0) }
            emit(MonitorEvent { [self] in $0.request(self, didFailToCreateURLRequestWithError: error) })
            return fail(error, attempt)
        }
        let isWanted = update { state in
            if state.isWanted(attempt) { state.requests.append(made) }
            return state.isWanted(attempt)
        }
        // The program's code may have taken long.
        guard isWanted else { return }
        emit(MonitorEvent { [self] in $0.request(self, didCreateInitialURLRequest: made) })
        let chain = session.chain(for: self)
        guard !chain.interceptors.isEmpty else { return created(made, attempt) }
        let state = RequestAdapterState(requestID: id, session: session)
        session.requestQueue.async { [self] in
            chain.adapt(made, using: state) { result in self.adapted(made, result, attempt) }
        }
    }

    private func adapted(_ initial: URLRequest, _ result: Result<URLRequest, any Error>, _ attempt: Int) {
        let isFirst = update { state in
            guard state.isWanted(attempt), state.adaptedAttempt < attempt else { return false }
            state.adaptedAttempt = attempt
            return true
        }
        guard isFirst else { return }
        do {
            let request = try result.get()
            try request.validate()
            update { $0.requests.append(request) }
            emit(MonitorEvent { [self] in $0.request(self, didAdaptInitialRequest: initial, to: request) })
            created(request, attempt)
        } catch {
            let error = AFError.requestAdaptationFailed(error: error)
            emit(MonitorEvent { [self] in $0.request(self, didFailToAdaptURLRequest: initial, withError: error) })
            fail(error, attempt)
        }
    }

    private func created(_ request: URLRequest, _ attempt: Int) {
        emit(MonitorEvent { [self] in $0.request(self, didCreateURLRequest: request) })
        let hooks = update { state in state.created(request) }
        hooks.created(request)
        guard touchesFiles else { return opened(Result { try makeTransfer(request) }, request, attempt) }
        do {
            try session.engine().workers.execute { [self] in
                opened(Result { try makeTransfer(request) }, request, attempt)
            }
        } catch {
            opened(.failure(error), request, attempt)
        }
    }

    private func opened(_ result: Result<Transfer, any Error>, _ request: URLRequest, _ attempt: Int) {
        // The request was cancelled while files were opened. Its end has been settled, so that only this step can close
        // them.
        if read({ $0.isCancelled }) { return enqueue(.release) }
        switch result {
        case .failure(let cause):
            let error = cause.asAFError { .createUploadableFailed(error: $0) }
            guard case .sessionTaskFailed = error, let record = beginTask(request, nil, attempt) else {
                return fail(error, attempt)
            }
            enqueue(.endUnsent(record, error))
        case .success(let transfer):
            // The request was cancelled and settled since the check above.
            guard beginTask(request, transfer, attempt) != nil else { return enqueue(.release) }
            send(.prepared, attempt: attempt)
        }
    }

    /// Creates the task of an attempt that is completely prepared, and reports it.
    ///
    /// - Parameter transfer: The prepared transfer; `nil` where nothing can be sent.
    /// - Returns: `nil` when the attempt is no longer wanted.
    private func beginTask(_ request: URLRequest, _ transfer: Transfer?, _ attempt: Int) -> AttemptRecord? {
        let record = AttemptRecord(
            kind: kind, attempt: attempt, number: session.nextTaskNumber, urlRequest: request,
            bodyLength: transfer?.exchange.body.length, cached: transfer?.cached,
            onFirstBytes: firstBytesObserver(of: attempt))
        let isTaken = update { state in
            guard state.isWanted(attempt) else { return false }
            state.transfer = transfer
            state.attempts.append(record)
            state.progress.attemptStarted()
            return true
        }
        guard isTaken else { return nil }
        enqueue(.begun(record))
        return record
    }

    /// Returns the closure that reports the first bytes of an attempt; `nil` where the progress is not observed. An
    /// observer of a download may come later, and still before the first bytes.
    private func firstBytesObserver(of attempt: Int) -> (@Sendable () -> Void)? {
        let isObserved = read { !$0.progress.isEmpty }
        guard isObserved || isMonitored || kind == .download else { return nil }
        return { [weak self] in
            guard let self, read({ !$0.progress.isEmpty }) || isMonitored else { return }
            session.rootQueue.async { self.reportFirstProgress(of: attempt) }
        }
    }

    func tellBeginning(of record: AttemptRecord) {
        read { $0.hooks }.created(record, self)
        emit(record) { [self] in $0.request(self, didCreateTask: $2) }
    }

    private func fail(_ error: AFError, _ attempt: Int) {
        send(.attemptEnded(failed: true), attempt: attempt) { state in
            if state.lifecycle.isPreparing { state.error = error }
        }
    }
}
