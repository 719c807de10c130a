import TransferCore
import TransferEngine

extension AnswerWait {
    /// - Returns: `nil` where there was no answer, a detour led to it, or the kernel told no round trip.
    init?(_ outcome: ExchangeOutcome, _ path: PathMeter) {
        let metrics = outcome.metrics
        guard metrics.firstByte > 0, metrics.redirects == 0, let roundTrip = path.take()?.roundTrip else { return nil }
        let asked = max(metrics.nameLookup, metrics.connect, metrics.tls)
        self.init(seconds: max(0, metrics.firstByte - asked), roundTrip: roundTrip)
    }
}
