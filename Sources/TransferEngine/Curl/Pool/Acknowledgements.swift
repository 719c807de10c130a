import CTransferCurl
import CTransferLinux
import TransferCore
import TransferEventLoop

/// The part of the pool that acknowledgements need.
protocol AcknowledgementHost: PoolHost {
    var active: [ExchangeID: ActiveExchange] { get }
    var acknowledgements: Acknowledgements { get }
}

/// The tracking of the bytes of each request body that the peer has acknowledged.
///
/// The kernel takes megabytes at once, which a slow link carries for minutes.
final class Acknowledgements {
    /// The time between two checks.
    static let interval = Duration.milliseconds(200)

    /// Begins to watch a hop that may send a body.
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

    /// Updates the counts of exchanges that share a connection.
    ///
    /// - Parameter queued: The unacknowledged bytes of the connection; negative where that is unknown.
    private static func settle(_ exchanges: [ActiveExchange], queued: Int64) {
        let bodies = exchanges.map {
            AcknowledgedShares.Body(given: $0.givenToNetwork, acknowledged: $0.meter.acknowledged)
        }
        let counts = AcknowledgedShares.settle(bodies, queued: max(0, queued))
        for (exchange, count) in zip(exchanges, counts) { exchange.acknowledged(upTo: count) }
    }
}

/// The acknowledged bytes of bodies that share a connection (the streams of HTTP/2): the kernel counts only the
/// connection's.
enum AcknowledgedShares {
    struct Body: Equatable {
        /// The bytes that the network has taken.
        var given: Int64
        /// The bytes among them that had been acknowledged at the last check.
        var acknowledged: Int64
    }

    /// Distributes newly acknowledged bytes.
    ///
    /// - Parameter queued: The unacknowledged bytes of the connection, with heads and the framing of TLS. A body is
    ///   therefore reported as arrived a little too late, and never too early.
    /// - Returns: The acknowledged bytes of each body. A single body has an exact count. Several bodies share new bytes
    ///   in proportion to their unacknowledged ones.
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
