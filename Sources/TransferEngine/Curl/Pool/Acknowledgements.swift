import CTransferCurl
import CTransferLinux
import TransferCore
import TransferEventLoop

/// The pool, as far as acknowledgements concern it.
protocol AcknowledgementHost: PoolHost {
    var active: [ExchangeID: ActiveExchange] { get }
    var acknowledgements: Acknowledgements { get }
}

/// Follows how much of each request's body the peer has acknowledged: the kernel takes megabytes at once, which a slow link
/// carries for minutes.
final class Acknowledgements {
    /// The time between two looks.
    static let interval = Duration.milliseconds(200)

    /// A hop begins that may send a body.
    func begin(_ exchange: ActiveExchange, on host: isolated some AcknowledgementHost) {
        guard exchange.sendsBytes || exchange.leastRate != nil else { return }
        let timer = host.timer(.acknowledgement)
        if !timer.isScheduled { timer.schedule(at: .now + Self.interval) }
    }

    func look(on host: isolated some AcknowledgementHost) {
        let now = MonotonicTime.now
        var isNeeded = false
        var sharing: [Int32: [ActiveExchange]] = [:]
        for exchange in host.active.values where exchange.handle != nil {
            if exchange.leastRate != nil { isNeeded = true }
            if exchange.sendsBytes, !exchange.isAllAcknowledged {
                isNeeded = true
                if exchange.files == nil, let socket = exchange.connection.path.sending {
                    sharing[socket, default: []].append(exchange)
                } else {
                    exchange.noteAcknowledged()
                }
            }
        }
        for (socket, exchanges) in sharing { Self.settle(exchanges, queued: transfer_unacknowledged(socket)) }
        for exchange in host.active.values where exchange.leastRate != nil { exchange.measureRate(now: now) }
        if isNeeded { host.timer(.acknowledgement).schedule(at: now + Self.interval) }
    }

    /// - Parameter queued: Bytes of the connection that have not been acknowledged; negative where that is unknown.
    private static func settle(_ exchanges: [ActiveExchange], queued: Int64) {
        let bodies = exchanges.map {
            AcknowledgedShares.Body(given: $0.givenToNetwork, acknowledged: $0.meter.acknowledged)
        }
        let counts = AcknowledgedShares.settle(bodies, queued: max(0, queued))
        for (exchange, count) in zip(exchanges, counts) { exchange.acknowledged(upTo: count) }
    }
}

/// The acknowledged bytes of bodies that share a connection (the streams of HTTP/2): the kernel counts the connection's.
enum AcknowledgedShares {
    struct Body: Equatable {
        /// Bytes that the network has taken.
        var given: Int64
        /// Bytes of them that had been acknowledged at the last look.
        var acknowledged: Int64
    }

    /// - Parameter queued: Bytes of the connection that have not been acknowledged. Heads and the framing of TLS are among
    ///   them, so that a body is told to have arrived a little too late, and never too early.
    /// - Returns: The acknowledged bytes of each body. A connection with one body is exact; several have shares of what is
    ///   new in proportion to what each of them waits for.
    static func settle(_ bodies: [Body], queued: Int64) -> [Int64] {
        let waiting = bodies.map { max(0, $0.given - $0.acknowledged) }
        let all = waiting.reduce(0, +)
        let new = all - min(all, max(0, queued))
        guard new > 0 else { return bodies.map(\.acknowledged) }
        return zip(bodies, waiting).map { body, waiting in
            let share = new == all ? waiting : Int64(Double(waiting) * (Double(new) / Double(all)))
            return body.acknowledged + min(waiting, share)
        }
    }
}
