import TransferCore
import TransferEventLoop

/// The pool, as far as decisions about servers need it.
protocol TrustHost: PoolHost {
    var trust: TrustDecisions { get }
}

/// Servers that the program's own check judges, on threads that may take long, while their handshakes wait.
final class TrustDecisions {
    /// libcurl would close the connection at its bound, and what waits in the handshake would be lost: the decision's
    /// bound comes before that.
    private static let margin = Duration.milliseconds(-50)

    /// The list in which the handshakes of the pool put their questions.
    let questions = HandshakeQuestions()
    private let threads: WorkerPool
    /// Exchanges whose server is being judged, with the longest that this may take.
    private var waits = Deadlines()

    init(threads: WorkerPool) { self.threads = threads }

    /// Takes the questions that were put since the last look.
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

    /// A handshake that is given up while it waits ends by a refusal: it runs on a stack of its own, which is freed
    /// when it comes to its end.
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
