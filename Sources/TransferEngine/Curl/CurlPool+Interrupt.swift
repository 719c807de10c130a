import CTransferCurl
import Glibc
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
        exchange.socket = what == CURL_POLL_REMOVE ? nil : socket
        if what != CURL_POLL_REMOVE { sockets?.used(socket, by: exchange.id) }
    }

    /// What was handed to the kernel of a request's body and hasn't left yet is thrown away with the connection.
    ///
    /// close(2) goes on sending it otherwise, for minutes and over a link that comes back meanwhile: the server then has
    /// a whole request whose sender took it for broken off and sends it once more. A connection of HTTP/2 isn't closed,
    /// as others use it.
    func discardUnsent(_ exchange: ActiveExchange) {
        guard exchange.phase == .head, exchange.files == nil, exchange.hop?.sendsBody == true, exchange.sent > 0 else {
            return
        }
        guard let socket = exchange.socket, let handle = exchange.handle, !Self.isShared(handle)
        else { return }
        var reset = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
    }

    /// Whether others may use a transfer's connection at the same time: libcurl names a version once an answer has begun,
    /// and until then only the handshake tells.
    private static func isShared(_ handle: CurlHandle) -> Bool {
        let version = handle.long(CURLINFO_HTTP_VERSION)
        guard version == CURL_HTTP_VERSION_NONE else { return version >= CURL_HTTP_VERSION_2_0 }
        return transfer_easy_get_tls(handle.raw).map(ApplicationProtocol.isHTTP2) ?? false
    }
}
