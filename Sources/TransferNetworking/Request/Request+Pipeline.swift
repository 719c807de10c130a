import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine
import TransferEventLoop

// The steps from an action of the life cycle to the next event: an attempt, from its place in the queue to its end.
extension Request {
    func perform(_ action: RequestLifecycle.Action) {
        switch action {
        case .none: break
        case .prepare: prepare()
        case .holdTask: holdTask()
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

    // MARK: Transferring

    private func enterQueue() {
        let (transfer, record, attempt) = read { ($0.transfer, $0.lastAttempt, $0.attempt) }
        if let record { emit(record) { [self] in $0.request(self, didResumeTask: $2) } }
        guard let transfer else { return send(.admitted, attempt: attempt) }
        guard let protocols = session.protocols else { return enterNetwork(transfer, attempt) }
        claim(transfer, by: protocols, attempt) { [self] in enterNetwork(transfer, attempt) }
    }

    private func enterNetwork(_ transfer: Transfer, _ attempt: Int) {
        if transfer.file != nil { return send(.admitted, attempt: attempt) }
        guard let cached = transfer.cached else { return enterHost(transfer, attempt) }
        // A request that needs no network occupies no slot of the host.
        cached.look { [self] isSettled in
            if isSettled { send(.admitted, attempt: attempt) } else { enterHost(transfer, attempt) }
        }
    }

    private func enterHost(_ transfer: Transfer, _ attempt: Int) {
        whenConnected(transfer) { [self] in
            session.hosts.enter(transfer.hostKey) { [self] slot in
                send(.admitted, attempt: attempt) { state in
                    // A slot that is not stored here is released at once.
                    if state.lifecycle.state == .resumed(.queued) { state.slot = slot }
                }
            }
        }
    }

    /// Reports a prepared attempt that the program has suspended.
    private func holdTask() {
        guard let record = read({ $0.lastAttempt }) else { return }
        emit(record) { [self] in $0.request(self, didSuspendTask: $2) }
    }

    private func startTransfer() {
        let (prepared, known, attempt) = update { state in (state.transfer.take(), state.lastAttempt, state.attempt) }
        guard let prepared, let record = known else { return }
        if let claim = prepared.claim { return carry(prepared, claim, record, attempt) }
        // No `URLProtocol` of the program has claimed the URL.
        if session.protocols != nil, Origin(url: prepared.exchange.url) == nil {
            if readsFiles, let file = LocalFile(prepared.urlRequest) { return readLocally(file, record, attempt) }
            return endUnsent(record, dueTo: ExchangeRequest.unsupported(prepared.exchange.url), attempt)
        }
        if let answer = prepared.cached?.localAnswer {
            return self.answer(answer, record) { [self] in transferEnded($0, $1, attempt) }
        }
        if let file = prepared.file { return readLocally(file, record, attempt) }
        let engine: ExchangeEngine
        var exchange = prepared.exchange
        do {
            try session.checkAccess(of: prepared.urlRequest)
            engine = try session.engine()
            let rules = try session.tlsRules()
            if exchange.settings.tls != rules { exchange.settings.tls = rules }
        } catch {
            let fault = error as? TransferError ?? TransferError(.internalFault, "\(error)")
            return endUnsent(record, dueTo: .sessionTaskFailed(error: error as? URLError ?? URLError(fault)), attempt)
        }
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

    private func readLocally(_ file: LocalFile, _ record: AttemptRecord, _ attempt: Int) {
        read(file, record) { [self] in transferEnded($0, record, attempt) }
    }

    /// Ends an attempt before it used the network.
    func endUnsent(_ record: AttemptRecord, dueTo failure: AFError, _ attempt: Int) {
        transferEnded(record.ended(unsent: failure), record, attempt)
    }

    /// Ends the task of a request that was cancelled, or lost its session, before it used the network.
    func endUnusedTask() {
        let (attempt, failure) = read { state in
            (state.isCancelled || state.lostItsSession ? state.lastAttempt : nil, state.unusedEnd)
        }
        guard let record = attempt, record.isUnsent else { return }
        let end = record.ended(unsent: .sessionTaskFailed(error: URLError(.cancelled)))
        emitEnd(of: record, failure)
        tellEnd(of: record, end, failure)
    }

    /// Handles an event. Called on the loop that carries the exchange.
    func happened(_ event: ExchangeEvent, _ record: AttemptRecord, _ attempt: Int) {
        switch event {
        case .interim, .netrcUsed, .congestionRefused: break
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
            // A failed attempt needs no decision about its head. A cancellation may have come before the head, and thus
            // before the gate was closed.
            if end.error != nil || read({ $0.isCancelled }) { _ = record.gate.decide() }
            record.gate.whenDecided { [self] in
                whenHandled { [self] in
                    if record.isUndecided { return endUnsent(record, dueTo: .undecided, attempt) }
                    store(end, record) { [self] in transferEnded(end, record, attempt) }
                }
            }
        default: break
        }
    }

    /// - Returns: Whether the attempt continues although the exchange has ended.
    private func settled(
        by cached: CachedExchange, _ outcome: ExchangeOutcome, _ record: AttemptRecord, _ attempt: Int
    ) -> Bool {
        // The call is needed for a cancelled request too, as it releases the closure that would repeat the exchange.
        let end = cached.ended(outcome)
        switch read({ $0.isCancelled }) ? .network : end {
        case .network: return false
        case .again(let begin):
            begin()
            // The new exchange receives the commands that the earlier one had received.
            let (isCancelled, isSuspended) = read { ($0.isCancelled, $0.publicState == .suspended) }
            if isCancelled { record.handle?.cancel() }
            if isSuspended { record.handle?.suspend() }
        case .stored(let stored):
            // The slot is released outside the lock, as its release may start the next transfer here.
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
        // The refusal comes before the gate is opened. The loop takes the body at once then, and learns of the
        // cancellation later.
        record.gate.refuse()
        record.handle?.cancel()
        // The decision about the response is no longer needed, and the end must not wait for it.
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
            let failure = take(end)
            return took(failure ?? place(end), end, record, attempt)
        }
        workers.execute { [self] in
            if let failure = take(end) { return took(failure, end, record, attempt) }
            guard placesFiles, hasValidators, record.response != nil else {
                return took(place(end), end, record, attempt)
            }
            session.rootQueue.async { [self] in
                let refusal = validate(record)
                workers.execute { [self] in judged(refusal, end, record, attempt) }
            }
        }
    }

    /// Continues after the validations, which come before the file is moved to its destination.
    private func judged(_ refusal: AFError?, _ end: TransferEnd, _ record: AttemptRecord, _ attempt: Int) {
        reportFinalProgress(record)
        let failure = refusal == nil ? place(end) : nil
        if refusal != nil { refused() }
        emitEnd(of: record, refusal ?? failure)
        tellTaskEnd(of: record, end)
        tellVerdicts()
        tellCompletion(of: record, refusal ?? failure)
        attemptEnded(refusal ?? failure, attempt)
    }

    private func took(_ failure: AFError?, _ end: TransferEnd, _ record: AttemptRecord, _ attempt: Int) {
        reportFinalProgress(record)
        emitEnd(of: record, failure)
        tellTaskEnd(of: record, end)
        guard failure == nil, hasValidators, !placesFiles else {
            tellCompletion(of: record, failure)
            return attemptEnded(failure, attempt)
        }
        // Validations are the program's code, hence on the root queue. Their verdicts come before the completion of the
        // task, as in Alamofire.
        session.rootQueue.async { [self] in
            let refusal = validate(record)
            tellCompletion(of: record, refusal)
            attemptEnded(refusal, attempt)
        }
    }

    private func tellEnd(of record: AttemptRecord, _ end: TransferEnd, _ failure: AFError?) {
        tellTaskEnd(of: record, end)
        tellCompletion(of: record, failure)
    }

    private func tellCompletion(of record: AttemptRecord, _ failure: AFError?) {
        guard isMonitored else { return }
        emit(record) { [self] in $0.request(self, didCompleteTask: $2, with: failure) }
    }

    private func tellTaskEnd(of record: AttemptRecord, _ end: TransferEnd) {
        guard isMonitored else { return }
        if let metrics = record.metrics {
            emit(record) { $0.urlSession($1, task: $2, didFinishCollecting: metrics) }
            emit(record) { [self] monitor, _, _ in monitor.request(self, didGatherMetrics: metrics) }
        }
        let error = end.taskError
        emit(record) { $0.urlSession($1, task: $2, didCompleteWithError: error) }
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
            // The end that a cancellation or the release of the session has settled keeps its cause.
            if !state.isCancelled, !state.lostItsSession { state.error = error }
        }
    }
}

extension AFError {
    /// The error of a request whose program did not decide about the head of the response in time.
    fileprivate static var undecided: AFError { .sessionTaskFailed(error: URLError(.timedOut)) }
}
