import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine
import TransferEventLoop

// From one action of the life cycle to the next event: an attempt, from the URL request to its end.
extension Request {
    func perform(_ action: RequestLifecycle.Action) {
        switch action {
        case .none: break
        case .prepare: prepare()
        case .enterQueue: enterQueue()
        case .startTransfer: startTransfer()
        case .suspendTransfer: suspendTransfer()
        case .resumeTransfer: resumeTransfer()
        case .cancelTransfer: cancelTransfer()
        case .askRetriers: askRetriers()
        case .awaitRetry: awaitRetry()
        case .settle: settle()
        case .reconsider: reconsider()
        case .conclude: send(.settled(failed: false, hasMore: read { !$0.handlers.isEmpty }))
        case .deliver: deliver()
        }
    }

    // MARK: Preparing

    private func prepare() {
        let attempt = update { state in
            state.attempt += 1
            if !state.isCancelled { state.error = nil }
            return state.attempt
        }
        if makesURLRequestQuickly { return make(attempt) }
        session.requestQueue.async { [self] in make(attempt) }
    }

    private func make(_ attempt: Int) {
        let made: URLRequest
        do {
            made = try makeURLRequest()
            try made.validate()
        } catch {
            let error = error.asAFError { .createURLRequestFailed(error: $0) }
            emit(MonitorEvent { [self] in $0.request(self, didFailToCreateURLRequestWithError: error) })
            return fail(error, attempt)
        }
        update { $0.requests.append(made) }
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
            guard state.attempt == attempt, state.adaptedAttempt < attempt, state.lifecycle.isPreparing else {
                return false
            }
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
        guard touchesFiles else { return opened(Result { try makeTransfer(request) }, attempt) }
        do {
            try session.engine().workers.execute { [self] in
                opened(Result { try makeTransfer(request) }, attempt)
            }
        } catch {
            opened(.failure(error), attempt)
        }
    }

    private func opened(_ result: Result<Transfer, any Error>, _ attempt: Int) {
        // Cancelled while files were opened: the end has been settled, so nobody else would let go of them.
        if read({ $0.isCancelled }) { return enqueue(.release) }
        switch result {
        case .failure(let error): fail(error.asAFError { .createUploadableFailed(error: $0) }, attempt)
        case .success(let transfer):
            send(.prepared, attempt: attempt) { $0.transfer = transfer }
            // Cancelled, and settled, since the look above.
            let isLate = update { state in
                guard state.transfer != nil, state.lifecycle.isCancelledAtRest else { return false }
                state.transfer = nil
                return true
            }
            if isLate { enqueue(.release) }
        }
    }

    func fail(_ error: AFError, _ attempt: Int) {
        send(.attemptEnded(failed: true), attempt: attempt) { state in
            if !state.isCancelled { state.error = error }
        }
    }

    // MARK: Transferring

    private func enterQueue() {
        let (transfer, attempt) = read { ($0.transfer, $0.attempt) }
        guard let transfer else { return send(.admitted, attempt: attempt) }
        guard let protocols = session.protocols else { return enterNetwork(transfer, attempt) }
        claim(transfer, by: protocols, attempt) { [self] in enterNetwork(transfer, attempt) }
    }

    private func enterNetwork(_ transfer: Transfer, _ attempt: Int) {
        guard let cached = transfer.cached else { return enterHost(transfer, attempt) }
        // Who needs no network takes nobody's place at the host.
        cached.look { [self] isSettled in
            if isSettled { send(.admitted, attempt: attempt) } else { enterHost(transfer, attempt) }
        }
    }

    private func enterHost(_ transfer: Transfer, _ attempt: Int) {
        whenConnected(transfer, attempt) { [self] in
            session.hosts.enter(transfer.hostKey) { [self] slot in
                send(.admitted, attempt: attempt) { state in
                    // A slot that isn't taken is free again at once.
                    if state.lifecycle.state == .resumed(.queued) { state.slot = slot }
                }
            }
        }
    }

    private func startTransfer() {
        let (prepared, attempt) = update { state in (state.transfer.take(), state.attempt) }
        guard let prepared else { return }
        if let claim = prepared.claim { return carry(prepared, claim, attempt) }
        if session.protocols != nil, Origin(url: prepared.exchange.url) == nil {
            return fail(ExchangeRequest.unsupported(prepared.exchange.url), attempt)
        }
        if let answer = prepared.cached?.localAnswer {
            return self.answer(answer, begin(prepared, attempt)) { [self] in transferEnded($0, $1, attempt) }
        }
        let engine: ExchangeEngine
        var exchange = prepared.exchange
        do {
            try session.checkAccess(of: prepared.urlRequest)
            engine = try session.engine()
            let rules = try session.tlsRules()
            if exchange.settings.tls != rules { exchange.settings.tls = rules }
        } catch {
            let fault = error as? TransferError ?? TransferError(.internalFault, "\(error)")
            let cause = error as? URLError ?? URLError(fault)
            return fail(.sessionTaskFailed(error: cause), attempt)
        }
        let record = begin(prepared, attempt)
        if effectiveRedirectHandler != nil { exchange.asksBeforeRedirects = true }
        authenticate(&exchange)
        let start = { @Sendable [self, exchange] (conditions: [HeaderField]) in
            var exchange = exchange
            if !conditions.isEmpty { exchange.headers += conditions }
            let handle = engine.start(exchange, meter: record.meter, makeSink: { prepared.makeSink(record) }) {
                [self] event in happened(event, record, attempt)
            }
            record.started(handle)
        }
        if let cached = record.cached { cached.begin(start) } else { start([]) }
        reportProgress(of: attempt)
    }

    /// Something that is to be told of as a task.
    func begin(_ prepared: Transfer, _ attempt: Int) -> AttemptRecord {
        let record = AttemptRecord(
            kind: kind, attempt: attempt, number: session.nextTaskNumber, urlRequest: prepared.urlRequest,
            bodyLength: prepared.exchange.body.length, cached: prepared.cached)
        let hooks = update { state in
            state.attempts.append(record)
            state.progress.attemptStarted()
            return state.hooks
        }
        hooks.created(record, self)
        emit(record) { [self] in $0.request(self, didCreateTask: $2) }
        emit(record) { [self] in $0.request(self, didResumeTask: $2) }
        return record
    }

    /// Called on the loop that carries the exchange.
    func happened(_ event: ExchangeEvent, _ record: AttemptRecord, _ attempt: Int) {
        switch event {
        case .interim, .netrcUsed: break
        case .responded(let start):
            record.cached?.noteResponse()
            if record.cached?.withholds(start.head) == true { return }
            record.responded(start)
            responded(record)
        case .redirected(let proposal):
            record.cached?.noteRedirect()
            redirected(proposal, record)
        case .challenged(let report): challenged(report, record)
        case .ended(let outcome):
            session.cache?.invalidate(outcome)
            if let cached = record.cached, settled(by: cached, outcome, record, attempt) { return }
            let end = record.ended(outcome)
            let slot = update { state in state.slot.take() }
            if outcome.metrics.httpVersion == HTTPVersion.two { slot?.hostMultiplexes() }
            // What failed needs no decision about its head. A cancellation may have come before the head, and so before
            // the gate was closed.
            if end.error != nil || read({ $0.isCancelled }) { _ = record.gate.decide() }
            record.gate.whenDecided { [self] in
                whenHandled { [self] in
                    store(end, record) { [self] in transferEnded(end, record, attempt) }
                }
            }
        default: break
        }
    }

    /// - Returns: Whether the end of the exchange isn't the end of the attempt.
    private func settled(
        by cached: CachedExchange, _ outcome: ExchangeOutcome, _ record: AttemptRecord, _ attempt: Int
    ) -> Bool {
        // Also of a request that is cancelled: what would begin it anew is let go of.
        let end = cached.ended(outcome)
        switch read({ $0.isCancelled }) ? .network : end {
        case .network: return false
        case .again(let begin):
            begin()
            // What was said to the exchange before.
            let (isCancelled, isSuspended) = read { ($0.isCancelled, $0.publicState == .suspended) }
            if isCancelled { record.handle?.cancel() }
            if isSuspended { record.handle?.suspend() }
        case .stored(let stored):
            // Given back outside the lock: that may start the next one here.
            _ = update { state in state.slot.take() }
            answer(stored, record, after: outcome) { [self] in transferEnded($0, $1, attempt) }
        }
        return true
    }

    private func suspendTransfer() {
        guard let record = read({ $0.running }) else { return }
        record.gate.setSuspended(true)
        record.handle?.suspend()
        emit(record) { [self] in $0.request(self, didSuspendTask: $2) }
        guard let limit = session.settings.suspensionLimit, touchesFiles else { return }
        let suspension = read { $0.suspensions }
        session.rootQueue.asyncAfter(deadline: .now() + limit.inSeconds) { [weak self] in
            guard let self, read({ $0.suspensions }) == suspension, isResumable else { return }
            send(.suspensionExpired)
        }
    }

    private func cancelTransfer() {
        guard let record = read({ $0.lastAttempt }) else { return }
        record.handle?.cancel()
        // Nobody has to decide any more whether the answer is taken: the end doesn't wait for it.
        _ = record.gate.decide()
    }

    private func resumeTransfer() {
        guard let record = read({ $0.running }) else { return }
        record.gate.setSuspended(false)
        record.handle?.resume()
        record.readOn()
        emit(record) { [self] in $0.request(self, didResumeTask: $2) }
    }

    private func transferEnded(_ end: TransferEnd, _ record: AttemptRecord, _ attempt: Int) {
        guard touchesFiles, let workers = try? session.engine().workers else {
            return took(take(end), end, record, attempt)
        }
        workers.execute { [self] in took(take(end), end, record, attempt) }
    }

    private func took(_ failure: AFError?, _ end: TransferEnd, _ record: AttemptRecord, _ attempt: Int) {
        reportFinalProgress(record)
        emitEnd(of: record, failure)
        if session.monitors != nil {
            if let metrics = record.metrics {
                emit(record) { $0.urlSession($1, task: $2, didFinishCollecting: metrics) }
                emit(record) { [self] monitor, _, _ in monitor.request(self, didGatherMetrics: metrics) }
            }
            let error = end.taskError
            emit(record) { $0.urlSession($1, task: $2, didCompleteWithError: error) }
            emit(record) { [self] in $0.request(self, didCompleteTask: $2, with: failure) }
        }
        guard failure == nil, hasValidators else { return attemptEnded(failure, attempt) }
        // Rules are other people's code.
        session.rootQueue.async { [self] in attemptEnded(validate(record), attempt) }
    }

    private func validate(_ record: AttemptRecord) -> AFError? {
        guard let response = record.response else { return nil }
        do {
            try validate(response)
            return nil
        } catch {
            return error.asAFError { .responseValidationFailed(reason: .customValidationFailed(error: $0)) }
        }
    }

    private func attemptEnded(_ error: AFError?, _ attempt: Int) {
        send(.attemptEnded(failed: error != nil), attempt: attempt) { state in
            if !state.isCancelled { state.error = error }
        }
    }
}

extension RequestLifecycle {
    /// Whether nothing has been done for it yet.
    var isNotStarted: Bool { state == .initialized || state == .suspended(.notStarted) }

    /// Cancelled, and no exchange of it is under way.
    var isCancelledAtRest: Bool { state == .cancelled(.settling) || state == .cancelled(.over) }

    var isPreparing: Bool { state == .resumed(.preparing) || state == .suspended(.preparing) }

    /// Whether the retriers are being asked.
    var isDeciding: Bool {
        switch state {
        case .resumed(.deciding), .suspended(.deciding), .resumed(.reconsidering), .suspended(.reconsidering): true
        default: false
        }
    }
}
