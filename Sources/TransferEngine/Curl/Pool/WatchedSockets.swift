import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// The part of the pool that its sockets need.
protocol SocketHost: PoolHost {
    var watched: WatchedSockets { get }
    /// Notifies libcurl of events on a socket.
    ///
    /// - Parameter mask: The mask of CURL_CSELECT_… bits.
    func act(on socket: curl_socket_t, _ mask: Int32)
    /// Returns the exchange that may be able to use an FTP server's reply on the socket.
    func awaitsReply(on socket: curl_socket_t) -> ActiveExchange?
}

/// The registration of libcurl's sockets at the loop, which notifies libcurl of their events.
final class WatchedSockets {
    /// The pause before an unread reply is offered to libcurl again.
    private static let pause = Duration.milliseconds(20)

    private var interest = SocketInterest()

    /// The number of sockets that libcurl watches.
    var count: Int { interest.wanted.count }

    /// Watches a socket for the events that libcurl wants.
    ///
    /// - Parameter what: The CURL_POLL_… value.
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

    /// Watches a control connection whose next reply libcurl may not ask for.
    func expectReply(on socket: curl_socket_t, on host: isolated some SocketHost) {
        if interest.expectsReply(on: socket) { register(socket, .readable, on: host) }
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
