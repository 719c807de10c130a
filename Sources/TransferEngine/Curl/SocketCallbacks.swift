import CTransferCurl
import Glibc
import TransferCore

/// The options of the sockets of libcurl's connections.
enum SocketCallbacks {
    /// The reason: "Bytes that are not sent yet stay in the process" in TransferEngine.docc/Decisions.md.
    static func apply(to handle: CurlHandle) throws(TransferError) {
        try handle.check(transfer_easy_set_sockopt(handle.raw, prepare), CURLOPT_SOCKOPTFUNCTION)
    }

    private static let prepare: transfer_sockopt_callback = { user, socket, _ in
        if let user {
            let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
            exchange.connection.opened.append(socket)
            if var size = exchange.connection.path.segmentSize {
                _ = setsockopt(
                    socket, Int32(IPPROTO_TCP), TCP_MAXSEG, &size, socklen_t(MemoryLayout.size(ofValue: size)))
            }
        }
        var limit = unsentLimit
        // A socket of another kind than TCP (a proxy's Unix socket, QUIC) refuses the option, and needs no limit.
        _ = setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        return CURL_SOCKOPT_OK
    }

    /// The most unsent bytes in the socket: one TLS record (RFC 8446 §5.1).
    private static let unsentLimit: Int32 = 16 << 10
}
