import CTransferCurl
import TransferCore

extension CurlPool {
    func cancel(_ id: ExchangeID, _ error: TransferError) {
        guard let exchange = active[id] else { return }
        exchange.machine.abandon()
        end(exchange, .failure(error))
    }

    func interrupt(_ id: ExchangeID, _ error: TransferError, _ isMeant: (ConnectionFacts) -> Bool) {
        guard let exchange = active[id], isMeant(facts(of: exchange)) else { return }
        exchange.machine.abandon()
        end(exchange, .failure(error))
    }

    private func facts(of exchange: ActiveExchange) -> ConnectionFacts {
        guard let handle = exchange.handle else { return ConnectionFacts() }
        return ConnectionFacts(
            localAddress: handle.string(CURLINFO_LOCAL_IP).flatMap { IPAddress($0) },
            remoteAddress: handle.string(CURLINFO_PRIMARY_IP).flatMap { IPAddress($0) })
    }
}
