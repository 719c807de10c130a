import TransferCore
import TransferEventLoop

/// The part of the pool that bounds on rates need.
protocol RateHost: PoolHost {
    var active: [ExchangeID: ActiveExchange] { get }
}

/// The pauses of exchanges that have exceeded their rate, or have had their turn.
final class RatePauses {
    /// Whether an exchange has ever had a bound, or may have to wait for its turn. Otherwise no check is needed.
    private var hasLimits = false
    private var pauses = Deadlines()

    func begin(_ exchange: ActiveExchange) {
        if !exchange.limiters.isEmpty || exchange.request.settings.decodesFiles { hasLimits = true }
    }

    func end(_ id: ExchangeID) { pauses.remove(id) }

    /// Holds back the exchanges that took too much since the last check.
    func holdBack(on host: isolated some RateHost) {
        guard hasLimits else { return }
        var hasBegun = false
        for exchange in host.active.values where exchange.pace.mustPause {
            exchange.pace.mustPause = false
            guard let until = exchange.pace.pausedUntil, exchange.handle != nil else { continue }
            exchange.pace.pausedUntil = nil
            pauses.set(exchange.id, until)
            exchange.pace.holds.insert(.rate)
            exchange.applyHolds()
            hasBegun = true
        }
        if hasBegun { schedule(on: host) }
    }

    private func schedule(on host: isolated some RateHost) {
        if let next = pauses.next { host.timer(.rate).schedule(at: next) }
    }

    func pauseEnded(on host: isolated some RateHost) {
        for id in pauses.takeDue(.now) {
            guard let exchange = host.exchange(id) else { continue }
            exchange.pace.holds.remove(.rate)
            exchange.applyHolds()
        }
        schedule(on: host)
        host.drain()
    }
}
