import CTransferNetlink
import TransferCore

/// A message of the type `RTM_NEWROUTE` or `RTM_DELROUTE`.
struct RouteMessage: Sendable, Hashable {
    struct Hop: Sendable, Hashable {
        var link: Int
        var gateway: IPAddress?
    }

    var version: IPVersion
    /// The length of the destination's prefix; 0 for a default route.
    var prefix: Int
    var table: UInt32
    /// The type of the route, `RTN_…`.
    var type: UInt8
    var serviceType: UInt8 = 0
    var hops: [Hop] = []
    var metric: UInt32 = 0
    var source: IPAddress?
    /// Whether the route is a copy for one destination (`RTM_F_CLONED`), as in the reply to a query.
    var isClone = false

    init(version: IPVersion, prefix: Int, table: UInt32, type: UInt8 = UInt8(RTN_UNICAST)) {
        self.version = version
        self.prefix = prefix
        self.table = table
        self.type = type
    }

    /// Creates a message from a libnl object.
    ///
    /// - Parameter route: A `struct rtnl_route`.
    init?(_ route: OpaquePointer) {
        guard let version = IPVersion(family: rtnl_route_get_family(route)) else { return nil }
        let destination = rtnl_route_get_dst(route)
        self.init(
            version: version, prefix: destination.map { Int(nl_addr_get_prefixlen($0)) } ?? 0,
            table: rtnl_route_get_table(route), type: rtnl_route_get_type(route))
        serviceType = rtnl_route_get_tos(route)
        metric = rtnl_route_get_priority(route)
        source = IPAddress(rtnl_route_get_pref_src(route))
        isClone = rtnl_route_get_flags(route) & UInt32(RTM_F_CLONED) != 0
        hops = (0..<rtnl_route_get_nnexthops(route)).compactMap { number in
            guard let hop = rtnl_route_nexthop_n(route, number), rtnl_route_nh_get_ifindex(hop) > 0 else { return nil }
            // Without a gateway of the route's own version, there may be one of the other version (RTA_VIA).
            let gateway = rtnl_route_nh_get_gateway(hop) ?? rtnl_route_nh_get_via(hop)
            return Hop(link: Int(rtnl_route_nh_get_ifindex(hop)), gateway: IPAddress(gateway))
        }
    }

    /// Whether the route leads to all destinations.
    var isDefault: Bool { prefix == 0 && type == UInt8(RTN_UNICAST) && !isClone && !hops.isEmpty }

    /// The key by which the kernel distinguishes default routes (ip-route(8)); a route can replace one with the same
    /// key.
    struct Place: Sendable, Hashable {
        var version: IPVersion
        var table: UInt32
        var metric: UInt32
        var serviceType: UInt8
    }

    var place: Place { Place(version: version, table: table, metric: metric, serviceType: serviceType) }
}
