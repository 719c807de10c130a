import TransferCore
import TransferEventLoop

// The commands to exchanges from outside, and the notifications for them from other threads.
extension CurlPool {
    func cancel(_ id: ExchangeID, _ error: TransferError) {
        if let exchange = active[id] { giveUp(exchange, error) }
    }

    func interrupt(_ id: ExchangeID, _ error: TransferError, _ isMeant: (ConnectionFacts) -> Bool) {
        guard let exchange = active[id], isMeant(ConnectionFacts(exchange.handle)) else { return }
        giveUp(exchange, error)
    }

    /// Suspends or resumes reading and sending. A suspended exchange keeps its connection.
    func setSuspended(_ id: ExchangeID, _ isSuspended: Bool) {
        guard let exchange = active[id], exchange.pace.holds.contains(.user) != isSuspended else { return }
        if isSuspended { exchange.pace.holds.insert(.user) } else { exchange.pace.holds.remove(.user) }
        exchange.applyHolds()
        drain()
    }

    /// Resumes an exchange whose sink may take more again.
    func proceed(_ id: ExchangeID) { goOn(id, after: .sink) { $0.sink.isReady } }

    func endRatePause(_ id: ExchangeID) {
        rates.end(id)
        goOn(id, after: .rate) { _ in true }
    }

    /// Decides about a redirect.
    func decide(_ id: ExchangeID, _ decision: RedirectDecision) {
        guard let exchange = active[id], let head = exchange.lastHead,
            let action = exchange.machine.decided(decision)
        else { return }
        if !exchange.take(action, head), exchange.stopReason == nil { exchange.stopReason = .bodyUnwanted }
        if exchange.answer.hasEndedUndecided {
            exchange.answer.hasEndedUndecided = false
            return hopEnded(exchange, exchange.stopError)
        }
        exchange.pace.holds.remove(.decision)
        exchange.applyHolds()
        drain()
    }

    private func goOn(_ id: ExchangeID, after reason: Pace.Holds, if isReady: (ActiveExchange) -> Bool) {
        guard let exchange = active[id], exchange.pace.holds.contains(reason), isReady(exchange) else { return }
        exchange.pace.holds.remove(reason)
        exchange.applyHolds()
        drain()
    }

    // MARK: Bodies of requests

    func feeder(for start: ExchangeStart) -> (any BodyProvider)? {
        let id = start.id
        let goOn: @Sendable () -> Void = { [weak self] in self?.onLoop { $0.goOn(id, after: .body) { _ in true } } }
        switch start.request.body {
        case .none, .bytes, .part: return nil
        case .stream(let stream): return BodyFeeder(stream, threads: bodyThreads, loop: loop, wake: goOn)
        // The stream wakes the exchange, perhaps within another call.
        case .window(let window): return WindowReader(window) { [loop] in loop.execute(goOn) }
        }
    }

    /// Returns the comparison of a source file, for an exchange whose body waits meanwhile.
    func sourceComparison(for start: ExchangeStart) -> ((SourceFile) -> Void)? {
        guard case .part(let part) = start.request.body, !part.file.isInMemory else { return nil }
        let id = start.id
        // The call does not come from libcurl's callback, which only holds the sending.
        let held: @Sendable () -> Void = { [weak self] in self?.onLoop { $0.active[id]?.applyHolds() } }
        let compared: @Sendable (Bool) -> Void = { [weak self] isSame in
            self?.onLoop { pool in
                if !isSame { pool.active[id]?.outgoing.isSourceOther = true }
                pool.goOn(id, after: .source) { _ in true }
            }
        }
        return { [bodyThreads, loop] file in
            loop.execute(held)
            bodyThreads.execute {
                let isSame = file.hasWhatWasSent()
                loop.execute { compared(isSame) }
            }
        }
    }
}

extension CurlPool: ExchangeCarrier {
    nonisolated var workedTime: Double { loop.processorTime }

    nonisolated func carryOut(_ command: ExchangeCommand, of id: ExchangeID) {
        // A loop for file servers may be blocked, until the socket is shut down from here.
        if case .cancel(let error) = command { sockets?.stop(id, error) }
        loop.execute {
            self.onLoop { pool in
                switch command {
                case .cancel(let error): pool.cancel(id, error)
                case .suspend: pool.setSuspended(id, true)
                case .resume: pool.setSuspended(id, false)
                case .proceed: pool.proceed(id)
                case .rateChanged: pool.endRatePause(id)
                case .decide(let decision): pool.decide(id, decision)
                case .interrupt(let error, let isMeant): pool.interrupt(id, error, isMeant)
                }
            }
        }
    }
}
