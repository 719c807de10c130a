import CTransferCurl
import Glibc
import TransferCore

/// The sockets over which a request's body is on its way, and hasn't been answered: closed, they are reset.
///
/// close(2) goes on sending what the kernel has of a body, for minutes and over a link that comes back meanwhile: the
/// server then has a whole request whose sender took it for broken off and sends it once more; one that reads nothing
/// doesn't learn that its client has left, and keeps the upload locked. libcurl closes by itself what has timed out, so
/// that it's decided where sockets are closed. One of HTTP/2 is closed only when nobody uses it.
///
/// Used on the pool's loop only.
final class UploadSockets {
    private var busy: [Int32: ActiveExchange] = [:]

    /// libcurl waits for the socket on behalf of the exchange.
    func used(_ socket: Int32, by exchange: ActiveExchange) {
        guard exchange.files == nil, exchange.hop?.sendsBody == true else { return }
        busy[socket] = exchange
        exchange.connection.path.sending = socket
    }

    /// The exchange has no handle of libcurl's any more.
    func release(_ exchange: ActiveExchange) {
        guard !busy.isEmpty else { return }
        for (socket, owner) in busy where owner === exchange { busy[socket] = nil }
    }

    fileprivate func close(_ socket: Int32) -> Int32 {
        let owner = busy.removeValue(forKey: socket)
        // The last look at what has arrived: a connection that broke off is asked no more.
        owner?.noteAcknowledged(over: socket)
        // Another socket may get its number.
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
    /// Has libcurl close its sockets here.
    func apply(to handle: CurlHandle) throws(TransferError) {
        try handle.check(transfer_easy_set_closesocket(handle.raw, UploadSockets.close), CURLOPT_CLOSESOCKETFUNCTION)
        try handle.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    }
}
