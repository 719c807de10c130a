import Synchronization
import TransferCore
import TransferEventLoop

@testable import TransferEngine

/// An engine whose exchanges go over a simulated network to models of servers.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedEngine: ExchangePerformer, ExchangeCarrier, @unchecked Sendable {
    let workers = WorkerPool(name: "worker", threads: 4)
    let loop: EventLoop
    private let network: NetworkModel
    private var exchanges: [ExchangeID: SimulatedExchange] = [:]
    private var lastID: UInt64 = 0

    init(_ network: NetworkModel) throws {
        loop = try EventLoop(name: "transfer-0")
        self.network = network
    }

    var connections: Int { exchanges.count }
    var workedTime: Double { 0 }

    func start(
        _ request: ExchangeRequest, meter: ExchangeMeter, limiters: [RateLimiter],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> ExchangeHandle {
        lastID += 1
        let id = ExchangeID(number: lastID)
        loop.execute { [self] in
            let exchange = SimulatedExchange(
                request, meter, makeSink(), loop, network, events: events, ended: { [self] in exchanges[id] = nil })
            exchanges[id] = exchange
            exchange.begin()
        }
        return ExchangeHandle(id: id, carrier: self)
    }

    func carryOut(_ command: ExchangeCommand, of id: ExchangeID) {
        loop.execute { [self] in
            guard let exchange = exchanges[id] else { return }
            switch command {
            case .cancel(let error): exchange.end(.failure(error))
            case .suspend: exchange.isSuspended = true
            case .resume:
                exchange.isSuspended = false
                exchange.proceed()
            case .proceed: exchange.proceed()
            case .rateChanged, .decide, .interrupt: break
            }
        }
    }

    func find(_ host: String, link: String?, then: @escaping @Sendable (HostResolver.Answer) -> Void) {
        workers.execute { then(.success(["127.0.0.1"])) }
    }

    func renewNetwork() {}

    func shutDown() {
        loop.execute { [self] in
            for exchange in exchanges.values { exchange.end(.failure(.shutDown)) }
            loop.stop()
        }
    }
}
