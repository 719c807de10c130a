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

    /// Whose socket it is from now on: a connection may have served another exchange before.
    func noteOwner(_ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32) {
        guard let easy else { return }
        var user: UnsafeMutableRawPointer?
        transfer_easy_get_pointer(easy, CURLINFO_PRIVATE, &user)
        // libcurl's own handles, for what it does besides transfers, have none.
        guard let user else { return }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard what != CURL_POLL_REMOVE else { return }
        sockets?.used(socket, by: exchange.id)
        uploadSockets.used(socket, by: exchange)
    }
}
