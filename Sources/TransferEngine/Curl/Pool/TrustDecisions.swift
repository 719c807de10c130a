import TransferCore
import TransferEventLoop

/// The part of the pool that decisions about servers need.
protocol TrustHost: PoolHost {
    var trust: TrustDecisions { get }
}

/// The decisions of the program's own check about servers. The check runs on threads that may block, while the
/// handshakes wait.
final class TrustDecisions {
    /// The time by which a decision's bound precedes libcurl's. At its own bound libcurl would close the connection,
    /// and the suspended handshake would be lost.
    private static let margin = Duration.milliseconds(-50)

    /// The list of the questions of the pool's handshakes.
    let questions = HandshakeQuestions()
    private let threads: WorkerPool
    /// The exchanges whose server is being judged, with the end of the permitted time.
    private var waits = Deadlines()

    init(threads: WorkerPool) { self.threads = threads }

    /// Takes the questions that came since the last call.
    func judge(on host: isolated some TrustHost) {
        while let exchange = questions.next() {
            guard let handshake = exchange.connection.handshake, case .check(let check) = handshake.rules.judgement
            else {
                continue
            }
            let (id, trust) = (exchange.id, handshake.trust())
            let bound = exchange.connection.connectBound
            waits.set(id, min(bound, exchange.deadline ?? bound) + Self.margin)
            schedule(on: host)
            threads.execute { [weak host] in
                let refusal = Result { try check(trust) }.failure
                guard let host else { return }
                host.loop.execute { host.onLoop { $0.trust.judged(id, refusal, on: $0) } }
            }
        }
    }

    private func judged(_ id: ExchangeID, _ refusal: (any Error)?, on host: isolated some TrustHost) {
        guard waits.remove(id), let exchange = host.exchange(id) else { return }
        exchange.settleServer(refusal)
        host.drain()
    }

    /// Refuses the server of an exchange whose handshake waits.
    ///
    /// The handshake must end so: it runs on a stack of its own, which is freed when it comes to its end.
    func abandon(_ exchange: ActiveExchange, on host: isolated some TrustHost) {
        waits.remove(exchange.id)
        guard exchange.handle != nil, let handshake = exchange.connection.handshake, handshake.isAsked else { return }
        handshake.settle(TransferError(.cancelled, "cancelled"))
        exchange.wakeHandshake()
        host.runTimeouts()
    }

    private func schedule(on host: isolated some TrustHost) {
        if let next = waits.next { host.timer(.trust).schedule(at: next) }
    }

    func timedOut(on host: isolated some TrustHost) {
        for id in waits.takeDue(.now) {
            guard let exchange = host.exchange(id) else { continue }
            let name = exchange.connection.handshake?.host ?? ""
            exchange.settleServer(
                TransferError(
                    .cannotConnect, "the certificate of \(name) was not judged in time", isTransient: true,
                    scope: .origin))
        }
        schedule(on: host)
        host.drain()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
