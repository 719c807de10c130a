import CTransferCurl
import Glibc
import TransferCore

/// The sockets over which an unanswered request's body is under way. They are reset when they are closed.
///
/// close(2) continues to send the kernel's bytes of a body, for minutes and over a link that comes back meanwhile. The
/// server may then have a whole request whose sender took it for broken and sends it again. A server that reads nothing
/// does not notice that its client has left, and keeps the upload locked. libcurl closes timed-out connections
/// automatically, so the decision is made where sockets are closed. A socket of HTTP/2 is closed only when no exchange
/// uses it.
///
/// The table is used on the pool's loop only.
final class UploadSockets {
    private var busy: [Int32: ActiveExchange] = [:]

    /// Notes that libcurl waits for the socket on behalf of the exchange.
    func used(_ socket: Int32, by exchange: ActiveExchange) {
        guard exchange.files == nil, exchange.hop?.sendsBody == true else { return }
        busy[socket] = exchange
        exchange.connection.path.sending = socket
    }

    /// Forgets the sockets of an exchange whose handle has been released.
    func release(_ exchange: ActiveExchange) {
        guard !busy.isEmpty else { return }
        for (socket, owner) in busy where owner === exchange { busy[socket] = nil }
    }

    fileprivate func close(_ socket: Int32) -> Int32 {
        let owner = busy.removeValue(forKey: socket)
        // The count of arrived bytes is read a last time: it is not available after the connection is closed.
        owner?.noteAcknowledged(over: socket)
        // Another socket may get the same number.
        if owner?.connection.path.sending == socket { owner?.connection.path.sending = nil }
        if let owner, owner.answer.phase == .head, owner.outgoing.sent > 0 {
            var reset = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        }
        return Glibc.close(socket)
    }

    fileprivate static let close: transfer_closesocket_callback = { user, socket in
        guard let user else { return Glibc.close(socket) }
        return Unmanaged<UploadSockets>.fromOpaque(user).takeUnretainedValue().close(socket)
    }
}

extension UploadSockets {
    /// Makes libcurl close its sockets by this table.
    func apply(to handle: CurlHandle) throws(TransferError) {
        try handle.check(transfer_easy_set_closesocket(handle.raw, UploadSockets.close), CURLOPT_CLOSESOCKETFUNCTION)
        try handle.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    }
}
