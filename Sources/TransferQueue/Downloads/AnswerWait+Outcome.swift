import TransferCore
import TransferEngine

extension AnswerWait {
    /// Creates the measurement of a response time.
    ///
    /// - Returns: `nil` if there was no answer, if a redirect led to it, or if the kernel reported no round trip.
    init?(_ outcome: ExchangeOutcome, _ path: PathMeter) {
        let metrics = outcome.metrics
        guard metrics.firstByte > 0, metrics.redirects == 0, let roundTrip = path.take()?.roundTrip else { return nil }
        let asked = max(metrics.nameLookup, metrics.connect, metrics.tls)
        self.init(seconds: max(0, metrics.firstByte - asked), roundTrip: roundTrip)
    }
}
