import CTransferCurl
import TransferCore
import TransferEventLoop

// Servers that have to be judged by somebody, while their handshakes wait.
extension CurlPool {
    /// Takes the questions that were put since the last look.
    func judgeServers() {
        while let exchange = questions.next() {
            guard let handshake = exchange.connection.handshake, case .check(let check) = handshake.rules.judgement
            else {
                continue
            }
            let (id, trust) = (exchange.id, handshake.trust())
            // libcurl would close the connection at its bound, and what waits in the handshake would be lost.
            let bound =
                min(exchange.connection.connectBound, exchange.deadline ?? exchange.connection.connectBound)
                + .milliseconds(-50)
            verdicts[id] = bound
            scheduleVerdictTimer()
            trustThreads.execute { [weak self] in
                let refusal = Result { try check(trust) }.failure
                guard let self else { return }
                loop.execute { self.onLoop { $0.judged(id, refusal) } }
            }
        }
    }

    private func judged(_ id: ExchangeID, _ refusal: (any Error)?) {
        guard verdicts.removeValue(forKey: id) != nil, let exchange = active[id] else { return }
        settleServer(exchange, refusal)
        drain()
    }

    private func settleServer(_ exchange: ActiveExchange, _ refusal: (any Error)?) {
        guard let handshake = exchange.connection.handshake, handshake.isAsked else { return }
        handshake.settle(refusal)
        if let refusal {
            exchange.connection.refusal = refusal
            exchange.stopReason = .failed(.refusal(refusal, of: handshake.host))
        }
        wake(exchange)
    }

    /// Makes libcurl go on with a handshake that waits for nothing on its socket.
    private func wake(_ exchange: ActiveExchange) {
        guard let handle = exchange.handle else { return }
        curl_easy_pause(handle.raw, CURLPAUSE_RECV)
        curl_easy_pause(handle.raw, CURLPAUSE_CONT)
        hold(exchange)
    }

    /// A handshake that is given up while it waits ends by a refusal: it runs on a stack of its own, which is freed
    /// when it comes to its end.
    func abandonHandshake(_ exchange: ActiveExchange) {
        verdicts[exchange.id] = nil
        guard exchange.handle != nil, let handshake = exchange.connection.handshake, handshake.isAsked else { return }
        handshake.settle(TransferError(.cancelled, "cancelled"))
        wake(exchange)
        runTimeouts()
    }

    private func scheduleVerdictTimer() {
        guard let next = verdicts.values.min() else { return }
        let timer = timers.verdict ?? loop.makeTimer { [weak self] in self?.onLoop { $0.verdictsTimedOut() } }
        timers.verdict = timer
        timer.schedule(at: next)
    }

    private func verdictsTimedOut() {
        let now = MonotonicTime.now
        for (id, bound) in verdicts where bound <= now {
            verdicts[id] = nil
            guard let exchange = active[id] else { continue }
            let host = exchange.connection.handshake?.host ?? ""
            settleServer(
                exchange,
                TransferError(
                    .cannotConnect, "the certificate of \(host) was not judged in time", isTransient: true,
                    scope: .origin))
        }
        scheduleVerdictTimer()
        drain()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
