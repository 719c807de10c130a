import CTransferNetlink
import Glibc
import TransferCore

/// A route netlink socket (rtnetlink(7)), which owns its descriptor.
final class NetlinkSocket {
    enum Received {
        case frames([NetlinkFrame])
        /// The kernel had more messages than the socket's buffer could hold (`ENOBUFS`).
        case overrun
        case nothing
        case failed
    }

    private let socket: OpaquePointer
    /// The socket's own address, which replies to its requests contain.
    let port: UInt32

    /// Opens a socket.
    ///
    /// - Parameter receiveBuffer: The size of the socket's buffer in bytes; `nil` uses the kernel's default.
    /// - Returns: `nil` where there is no netlink, as in some sandboxes.
    init?(receiveBuffer: Int? = nil) {
        guard let socket = nl_socket_alloc() else { return nil }
        guard nl_connect(socket, NETLINK_ROUTE) == 0 else {
            nl_socket_free(socket)
            return nil
        }
        self.socket = socket
        port = nl_socket_get_local_port(socket)
        _ = nl_socket_set_nonblocking(socket)
        nl_socket_disable_auto_ack(socket)
        if let receiveBuffer { _ = nl_socket_set_buffer_size(socket, Int32(clamping: receiveBuffer), 0) }
    }

    deinit { nl_socket_free(socket) }

    var descriptor: Int32 { nl_socket_get_fd(socket) }

    /// Subscribes to changes.
    func subscribe() -> Bool {
        let groups = [
            RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
            RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
        ]
        // Kernels before 5.3 have no nexthop objects.
        _ = nl_socket_add_membership(socket, Int32(RTNLGRP_NEXTHOP.rawValue))
        return groups.allSatisfy { nl_socket_add_membership(socket, Int32($0.rawValue)) == 0 }
    }

    func send(_ request: NetlinkRequest) -> Bool {
        guard let message = request.message() else { return false }
        defer { nlmsg_free(message) }
        return nl_send_auto(socket, message) >= 0
    }

    /// Returns the next datagram, without waiting for one.
    func receive() -> Received {
        while true {
            var sender = sockaddr_nl()
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = nl_recv(socket, &sender, &bytes, nil)
            // The library libnl has one code for both ENOBUFS and a lack of memory.
            let code = errno
            if count == -NLE_AGAIN { return .nothing }
            if count < 0 { return code == ENOBUFS ? .overrun : .failed }
            guard let bytes else { return count == 0 ? .nothing : .failed }
            defer { free(bytes) }
            // Other processes can send to the socket too; the kernel's address is 0.
            guard sender.nl_pid == 0 else { continue }
            return .frames(
                NetlinkFrame.parse(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))))
        }
    }

    /// Waits for the next datagram and returns it.
    ///
    /// - Returns: `failed` where none arrived in time.
    func receive(within milliseconds: Int32) -> Received {
        while true {
            let received = receive()
            guard case .nothing = received else { return received }
            var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            let ready = poll(&descriptors, 1, milliseconds)
            if ready == 0 || ready < 0 && errno != EINTR { return .failed }
        }
    }
}
