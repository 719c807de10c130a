import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// The pool, as far as its sockets need it.
protocol SocketHost: PoolHost {
    var watched: WatchedSockets { get }
    /// Tells libcurl what happened on a socket.
    ///
    /// - Parameter mask: CURL_CSELECT_….
    func act(on socket: curl_socket_t, _ mask: Int32)
    /// The exchange that may have use for an FTP server's reply on the socket.
    func awaitsReply(on socket: curl_socket_t) -> ActiveExchange?
}

/// Registers libcurl's sockets at the loop, and tells it what happens on them.
final class WatchedSockets {
    /// The pause before a reply that libcurl left where it was is offered again.
    private static let pause = Duration.milliseconds(20)

    private var interest = SocketInterest()

    /// Sockets that libcurl wants to hear of.
    var count: Int { interest.wanted.count }

    /// libcurl says what it wants to hear of a socket.
    ///
    /// - Parameter what: CURL_POLL_….
    func watch(_ socket: curl_socket_t, _ what: Int32, on host: isolated some SocketHost) {
        if let events = interest.changed(socket, what) { register(socket, events, on: host) }
    }

    private func register(_ socket: curl_socket_t, _ events: ReadyEvents, on host: isolated some SocketHost) {
        host.loop.register(socket, for: events) { [weak host] ready in
            host?.onLoop { $0.watched.ready(socket, ready, on: $0) }
        }
    }

    private func ready(_ socket: curl_socket_t, _ ready: ReadyEvents, on host: isolated some SocketHost) {
        switch interest.ready(socket, awaitsReply: host.awaitsReply(on: socket) != nil) {
        case .tell:
            var mask: Int32 = 0
            if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
            if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
            if ready.contains(.failed) { mask |= CURL_CSELECT_ERR }
            host.act(on: socket, mask)
            host.drain()
        case .offer: offer(socket, on: host)
        case .unregister: host.loop.unregister(socket)
        }
    }

    // MARK: Replies of FTP

    private func offer(_ socket: curl_socket_t, on host: isolated some SocketHost) {
        guard let exchange = host.awaitsReply(on: socket) else { return }
        exchange.lookAtSockets()
        host.runTimeouts()
        host.drain()
        guard
            interest.offered(
                socket, hasBytes: Self.isReadable(socket), awaitsReply: host.awaitsReply(on: socket) != nil)
        else { return }
        host.loop.unregister(socket)
        if interest.hasUnread { host.timer(.reply).schedule(at: .now + Self.pause) }
    }

    func offerAgain(on host: isolated some SocketHost) {
        for socket in interest.offerAgain(where: { host.awaitsReply(on: $0) != nil }) {
            register(socket, .readable, on: host)
        }
    }

    private static func isReadable(_ socket: curl_socket_t) -> Bool {
        var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 0) > 0
    }
}
