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
                if exchange.files == nil, let socket = exchange.connection.sending {
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

// The request's body of one exchange, as far as it has arrived.
extension ActiveExchange {
    /// Whether the step under way sends bytes of a body.
    var sendsBytes: Bool {
        if let files { return files.sends }
        return hop?.sendsBody == true && body.length != 0
    }

    var isAllAcknowledged: Bool { body.length.map { meter.acknowledged >= $0 } ?? false }

    /// Bytes of the body that libcurl has written to its socket; of SFTP's those that the server has acknowledged.
    var givenToNetwork: Int64 {
        guard let handle else { return meter.acknowledged }
        let given = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        return outgoing.isJoined ? min(given, body.length ?? given) : min(given, outgoing.sent)
    }

    func acknowledged(upTo count: Int64) {
        let new = count - meter.acknowledged
        guard new > 0 else { return }
        traffic.moved(new, at: .now)
        meter.update(acknowledged: count)
        noteActivity()
    }

    /// Looks at a body that has its connections for itself.
    func noteAcknowledged() {
        let queued = files.map { $0.url.isSSH ? 0 : $0.sockets.unacknowledged(of: id) } ?? 0
        acknowledged(upTo: givenToNetwork - queued)
    }

    /// The last word on how much of the body has arrived: an answer to all of it acknowledges all of it. What broke off
    /// arrived as far as the last look found.
    func settleAcknowledged(_ result: Result<ResponseHead, TransferError>) {
        let isAnswered = if case .success = result { true } else { answer.status >= 200 && outgoing.isBodyOut }
        if isAnswered { meter.update(acknowledged: outgoing.sent) }
    }

    /// Whether it was fast enough since the last look: then that is a sign of life.
    func measureRate(now: MonotonicTime) {
        guard let leastRate else { return }
        let moved = meter.received + meter.acknowledged
        guard let last = pace.lastLook else {
            pace.lastLook = (now, moved)
            return
        }
        let seconds = (now - last.time).inSeconds
        guard seconds >= 1 else { return }
        pace.lastLook = (now, moved)
        if Double(moved - last.moved) >= Double(leastRate) * seconds { noteLife(at: now) }
    }
}
