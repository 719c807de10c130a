import CTransferNetlink
import Glibc

/// `RTM_NEWLINK` and `RTM_DELLINK`.
struct LinkMessage: Sendable, Hashable {
    var index: Int
    /// `ARPHRD_…`
    var hardware: UInt16
    /// `IFF_…`
    var flags: UInt32
    var name = ""
    /// `nil` in what a Wi-Fi driver tells of its scans, which says nothing else either.
    var mtu: Int?
    /// `IF_OPER_…` (RFC 2863).
    var operation: UInt8 = 0
    var lower: Int?
    /// The lower link is in another namespace, where its index means nothing to us.
    var isLowerElsewhere = false
    var master: Int?
    /// `IFLA_INFO_KIND`, empty for what has a driver of its own.
    var kind = ""

    init(index: Int, hardware: UInt16, flags: UInt32) {
        self.index = index
        self.hardware = hardware
        self.flags = flags
    }

    /// - Parameter link: A `struct rtnl_link`.
    init?(_ link: OpaquePointer) {
        // Bridges tell of their ports (AF_BRIDGE) by the same message: a port that leaves is no link that goes.
        let index = Int(rtnl_link_get_ifindex(link))
        guard rtnl_link_get_family(link) == AF_UNSPEC, index > 0 else { return nil }
        self.init(
            index: index, hardware: UInt16(truncatingIfNeeded: rtnl_link_get_arptype(link)),
            flags: rtnl_link_get_flags(link))
        name = rtnl_link_get_name(link).map { String(cString: $0) } ?? ""
        let units = Int(rtnl_link_get_mtu(link))
        mtu = units > 0 ? units : nil
        operation = rtnl_link_get_operstate(link)
        lower = Self.related(rtnl_link_get_link(link))
        var namespace: Int32 = 0
        isLowerElsewhere = rtnl_link_get_link_netnsid(link, &namespace) == 0
        master = Self.related(rtnl_link_get_master(link))
        kind = rtnl_link_get_type(link).map { String(cString: $0) } ?? ""
    }

    private static func related(_ index: Int32) -> Int? { index > 0 ? Int(index) : nil }
}
