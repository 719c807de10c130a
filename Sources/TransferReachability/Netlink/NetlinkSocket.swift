import CTransferNetlink
import Glibc
import TransferCore

/// A route netlink socket (rtnetlink(7)) and its one owner.
final class NetlinkSocket {
    enum Received {
        case frames([NetlinkFrame])
        /// The kernel had more to say than the socket could hold (`ENOBUFS`).
        case overrun
        case nothing
        case failed
    }

    private let socket: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The socket's own address: what answers it bears that.
    let port: UInt32

    /// - Parameter receiveBuffer: Bytes that the kernel keeps for the socket; its default when `nil`.
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
        if let receiveBuffer { _ = nl_socket_set_buffer_size(socket, Int32(clamping: receiveBuffer), 0) }
    }

    deinit { nl_socket_free(socket) }

    var descriptor: Int32 { nl_socket_get_fd(socket) }

    /// Asks to be told of changes.
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
        var bytes = request.bytes
        return bytes.withUnsafeMutableBytes { nl_sendto(socket, $0.baseAddress, $0.count) } >= 0
    }

    /// The next datagram, without waiting for one.
    func receive() -> Received {
        while true {
            var sender = sockaddr_nl()
            var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
            let descriptor = descriptor
            let count = buffer.withUnsafeMutableBytes { buffer in
                withUnsafeMutablePointer(to: &sender) { sender in
                    sender.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(
                            descriptor, buffer.baseAddress, buffer.count,
                            Int32(MSG_DONTWAIT | MSG_TRUNC), $0, &size)
                    }
                }
            }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN: return .nothing
                case ENOBUFS: return .overrun
                default: return .failed
                }
            }
            // Other processes can send to the socket too; the kernel's address is 0.
            guard sender.nl_pid == 0 else { continue }
            guard count <= buffer.count else {
                buffer = [UInt8](repeating: 0, count: count * 2)
                return .overrun
            }
            return .frames(
                buffer.withUnsafeBytes { NetlinkFrame.parse(UnsafeRawBufferPointer(rebasing: $0[..<count])) })
        }
    }

    /// Waits for the next datagram.
    ///
    /// - Returns: `failed` when none came in time.
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
