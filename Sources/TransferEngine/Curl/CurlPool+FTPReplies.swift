import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

// While the TLS of a data connection of FTP comes about, libcurl (7.88) waits for that connection alone, although the
// server may go on with it only after commands whose replies come on the other one. Those who ask libcurl over and over
// don't notice; here it has to be told.
extension CurlPool {
    /// Whether libcurl, which waits for something else, may have use for what came on the socket.
    func wantsReply(_ socket: curl_socket_t) -> Bool { waiting(for: socket) != nil }

    private func waiting(for socket: curl_socket_t) -> ActiveExchange? {
        guard let id = sockets?.owner(of: socket), let exchange = active[id], let files = exchange.files,
            exchange.handle != nil, exchange.answer.phase == .head, exchange.outgoing.sent == 0,
            files.hasSecureData(exchange.request.settings.files)
        else { return nil }
        return exchange
    }

    /// Makes libcurl look at everything that its transfer has.
    func fetchReply(_ socket: curl_socket_t) {
        guard let exchange = waiting(for: socket), let handle = exchange.handle else { return }
        curl_easy_pause(handle.raw, CURLPAUSE_RECV)
        curl_easy_pause(handle.raw, exchange.pace.holds.mask)
        runTimeouts()
        drain()
        // What isn't taken would be offered again at once, and for ever.
        guard unwatched.contains(socket), isReadable(socket) else { return }
        unwatched.remove(socket)
        loop.unregister(socket)
        guard waiting(for: socket) != nil else { return }
        unreadReplies.insert(socket)
        let timer = timers.reply ?? loop.makeTimer { [weak self] in self?.onLoop { $0.offerReplies() } }
        timers.reply = timer
        timer.schedule(at: .now + .milliseconds(20))
    }

    private func offerReplies() {
        let offered = unreadReplies
        unreadReplies.removeAll()
        for socket in offered where waiting(for: socket) != nil {
            unwatched.insert(socket)
            loop.register(socket, for: .readable) { [weak self] _ in
                self?.onLoop { $0.offerReply(socket) }
            }
        }
    }

    private func offerReply(_ socket: curl_socket_t) {
        guard wantsReply(socket) else {
            unwatched.remove(socket)
            return loop.unregister(socket)
        }
        fetchReply(socket)
    }

    private func isReadable(_ socket: curl_socket_t) -> Bool {
        var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 0) > 0
    }
}
