import CTransferCurl
import TransferCore
import TransferEventLoop

// What holds exchanges back, and what ends those that stand still.
extension CurlPool {
    // MARK: Holding back

    /// Stops or goes on reading and sending; a suspended exchange keeps its connection.
    func setSuspended(_ id: ExchangeID, _ isSuspended: Bool) {
        guard let exchange = active[id], exchange.pace.holds.contains(.user) != isSuspended else { return }
        if isSuspended { exchange.pace.holds.insert(.user) } else { exchange.pace.holds.remove(.user) }
        hold(exchange)
        drain()
    }

    /// The sink may take more again.
    func proceed(_ id: ExchangeID) { goOn(id, after: .sink) { $0.sink.isReady } }

    /// There is more of the request's body.
    func bodyArrived(_ id: ExchangeID) { goOn(id, after: .body) { _ in true } }

    private func sourceCompared(_ id: ExchangeID) { goOn(id, after: .source) { _ in true } }

    /// What becomes of a redirect that was asked about.
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
        hold(exchange)
        drain()
    }

    private func goOn(_ id: ExchangeID, after reason: Pace.Holds, if isReady: (ActiveExchange) -> Bool) {
        guard let exchange = active[id], exchange.pace.holds.contains(reason), isReady(exchange) else { return }
        exchange.pace.holds.remove(reason)
        hold(exchange)
        drain()
    }

    /// Tells libcurl what of an exchange is held back now.
    func hold(_ exchange: ActiveExchange) {
        exchange.noteActivity()
        guard let handle = exchange.handle else { return }
        // Going on may deliver what libcurl kept, at once, and end in another hold.
        curl_easy_pause(handle.raw, exchange.pace.holds.mask)
    }

    func feeder(for start: ExchangeStart) -> BodyFeeder? {
        guard case .stream(let stream) = start.request.body else { return nil }
        let id = start.id
        return BodyFeeder(stream, threads: bodyThreads, loop: loop) { [weak self] in
            self?.onLoop { $0.bodyArrived(id) }
        }
    }

    /// For an exchange whose body waits meanwhile.
    func sourceComparison(for start: ExchangeStart) -> ((SourceFile) -> Void)? {
        guard case .part(let part) = start.request.body, !part.file.isInMemory else { return nil }
        let id = start.id
        // Not from libcurl's callback, which only holds the sending.
        let held: @Sendable () -> Void = { [weak self] in
            self?.onLoop { pool in if let exchange = pool.active[id] { pool.hold(exchange) } }
        }
        let compared: @Sendable (Bool) -> Void = { [weak self] isSame in
            self?.onLoop { pool in
                if !isSame { pool.active[id]?.outgoing.isSourceOther = true }
                pool.sourceCompared(id)
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

    // MARK: Rates

    func holdBack() {
        guard hasLimits else { return }
        for exchange in active.values where exchange.pace.mustPause {
            exchange.pace.mustPause = false
            guard let until = exchange.pace.pausedUntil, exchange.handle != nil else { continue }
            exchange.pace.pausedUntil = nil
            paused[exchange.id] = until
            exchange.pace.holds.insert(.rate)
            hold(exchange)
        }
        schedulePauseTimer()
    }

    private func schedulePauseTimer() {
        guard let next = paused.values.min() else { return }
        let timer = timers.pause ?? loop.makeTimer { [weak self] in self?.onLoop { $0.pauseEnded() } }
        timers.pause = timer
        timer.schedule(at: next)
    }

    private func pauseEnded() {
        let now = MonotonicTime.now
        for (id, until) in paused where until <= now {
            paused[id] = nil
            guard let exchange = active[id] else { continue }
            exchange.pace.holds.remove(.rate)
            hold(exchange)
        }
        drain()
    }

    // MARK: Silence

    /// The finest that is told apart: nobody wants a timer for every exchange.
    private static let granularity = Duration.milliseconds(50)

    func scheduleIdleCheck(_ exchange: ActiveExchange) {
        guard let timeout = exchange.idleTimeout else { return }
        let due = min(exchange.pace.lastActivity + timeout, exchange.deadline ?? exchange.pace.lastActivity + timeout)
        guard nextIdleCheck.map({ due < $0 }) ?? true else { return }
        checkIdle(at: due)
    }

    private func checkIdle(at due: MonotonicTime) {
        nextIdleCheck = due
        let timer = timers.idle ?? loop.makeTimer { [weak self] in self?.onLoop { $0.endIdle() } }
        timers.idle = timer
        timer.schedule(at: due)
    }

    private func endIdle() {
        nextIdleCheck = nil
        let now = MonotonicTime.now
        var silent: [ActiveExchange] = []
        var next: MonotonicTime?
        for exchange in active.values {
            guard let timeout = exchange.idleTimeout else { continue }
            // One that is held back has nothing to say for itself.
            var due = (exchange.pace.holds.isEmpty ? exchange.pace.lastActivity : now) + timeout
            if let deadline = exchange.deadline { due = min(due, deadline) }
            if due <= now { silent.append(exchange) } else { next = min(next ?? due, due) }
        }
        for exchange in silent {
            let isLate = exchange.deadline.map { $0 <= now } == true
            let settings = exchange.request.settings
            exchange.machine.abandon()
            end(
                exchange,
                .failure(isLate ? .late(settings.maxTime ?? .zero) : .silence(exchange.idleTimeout ?? .zero)))
        }
        if let next, nextIdleCheck.map({ next < $0 }) ?? true { checkIdle(at: max(next, now + Self.granularity)) }
    }
}

extension TransferError {
    static func late(_ bound: Duration) -> TransferError {
        TransferError(.timedOut, "it took longer than \(bound.inSeconds) s", isTransient: true)
    }

    static func silence(_ bound: Duration) -> TransferError {
        TransferError(.timedOut, "nothing came or went for \(bound.inSeconds) s", isTransient: true)
    }
}
