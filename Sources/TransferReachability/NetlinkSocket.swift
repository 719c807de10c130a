import CTransferNetlink
import Glibc
import TransferCore

/// A route netlink socket (rtnetlink(7)) and its one owner.
final class NetlinkSocket {
    private let socket: OpaquePointer

    /// - Returns: `nil` where there is no netlink, as in some sandboxes.
    init?() {
        guard let socket = nl_socket_alloc() else { return nil }
        self.socket = socket
        guard nl_connect(socket, NETLINK_ROUTE) == 0 else {
            nl_socket_free(socket)
            return nil
        }
    }

    deinit { nl_socket_free(socket) }

    /// Asks the kernel for its links and routes.
    ///
    /// - Returns: `nil` when it doesn't answer.
    func snapshot() -> NetworkSnapshot? {
        var links: OpaquePointer?
        var routes: OpaquePointer?
        guard rtnl_link_alloc_cache(socket, AF_UNSPEC, &links) == 0, let links else { return nil }
        defer { nl_cache_free(links) }
        guard rtnl_route_alloc_cache(socket, AF_UNSPEC, 0, &routes) == 0, let routes else { return nil }
        defer { nl_cache_free(routes) }
        var snapshot = NetworkSnapshot()
        Self.forEach(links) { link in
            let flags = rtnl_link_get_flags(link)
            snapshot.links.append(
                NetworkSnapshot.Link(
                    index: Int(rtnl_link_get_ifindex(link)),
                    name: rtnl_link_get_name(link).map { String(cString: $0) } ?? "",
                    isUp: flags & UInt32(IFF_UP) != 0, isRunning: flags & UInt32(IFF_RUNNING) != 0,
                    isLoopback: flags & UInt32(IFF_LOOPBACK) != 0))
        }
        Self.forEach(routes) { route in
            guard rtnl_route_get_type(route) == Self.unicast,
                let destination = rtnl_route_get_dst(route), nl_addr_get_prefixlen(destination) == 0
            else { return }
            for hop in 0..<rtnl_route_get_nnexthops(route) {
                guard let next = rtnl_route_nexthop_n(route, hop) else { continue }
                snapshot.defaultRouteLinks.insert(Int(rtnl_route_nh_get_ifindex(next)))
            }
        }
        return snapshot
    }

    /// Asks to be told of changes of links, addresses and routes.
    func subscribe() -> Bool {
        let groups = [RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE]
        return groups.allSatisfy { nl_socket_add_membership(socket, Int32($0.rawValue)) == 0 }
            && nl_socket_set_nonblocking(socket) == 0
    }

    var descriptor: Int32 { nl_socket_get_fd(socket) }

    /// Throws away what has been told; that there was something is all that counts, and an overrun (`ENOBUFS`) is
    /// something too.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 || errno == ENOBUFS {}
    }

    /// `RTN_UNICAST`, an enumerator that comes without its type (rtnetlink(7)).
    private static let unicast: UInt8 = 1

    private static func forEach(_ cache: OpaquePointer, _ body: (OpaquePointer) -> Void) {
        var object = nl_cache_get_first(cache)
        while let current = object {
            body(current)
            object = nl_cache_get_next(current)
        }
    }
}
