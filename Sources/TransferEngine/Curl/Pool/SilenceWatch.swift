import TransferCore
import TransferEventLoop

/// The part of the pool that silent exchanges need.
protocol SilenceHost: PoolHost {
    var active: [ExchangeID: ActiveExchange] { get }
}

/// The watch that ends exchanges which stand still, or take longer than they may.
final class SilenceWatch {
    private var silence = Silence()

    func begin(_ exchange: ActiveExchange, on host: isolated some SilenceHost) {
        if let time = silence.begin(exchange.silence, now: exchange.pace.lastActivity) {
            host.timer(.silence).schedule(at: time)
        }
    }

    func look(on host: isolated some SilenceHost) {
        let now = MonotonicTime.now
        let (ended, next) = silence.look(at: host.active.values, now: now) { exchange in
            var subject = exchange.silence
            if subject.isOver(now) { subject.company = exchange.company }
            return subject
        }
        for (exchange, fault) in ended {
            switch fault {
            case .late: host.giveUp(exchange, .late(exchange.request.settings.maxTime ?? .zero))
            case .silent:
                let bound = exchange.idleTimeout
                host.giveUp(exchange, exchange.leastRate.map { TransferError.slow($0, bound) } ?? .silence(bound))
            }
        }
        // Exchanges that began meanwhile may have asked for an earlier check.
        if let next, let time = silence.wants(next) { host.timer(.silence).schedule(at: time) }
    }
}

extension TransferError {
    static func late(_ bound: Duration) -> TransferError {
        TransferError(.timedOut, "it took longer than \(bound.inSeconds) s", isTransient: true)
    }

    static func slow(_ rate: Int64, _ bound: Duration) -> TransferError {
        TransferError(
            .timedOut, "stalled: slower than \(ByteCount.format(rate))/s for \(bound.inSeconds) s", isTransient: true)
    }

    static func silence(_ bound: Duration) -> TransferError {
        TransferError(.timedOut, "nothing came or went for \(bound.inSeconds) s", isTransient: true)
    }
}
