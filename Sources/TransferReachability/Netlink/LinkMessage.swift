import CTransferNetlink
import Glibc

/// A message of the type `RTM_NEWLINK` or `RTM_DELLINK`.
struct LinkMessage: Sendable, Hashable {
    var index: Int
    /// The hardware type, `ARPHRD_…`.
    var hardware: UInt16
    /// The flags, `IFF_…`.
    var flags: UInt32
    var name = ""
    /// The maximum size of a packet in bytes; `nil` in a Wi-Fi driver's messages about scans, which contain no other
    /// data either.
    var mtu: Int?
    /// The operational state, `IF_OPER_…` (RFC 2863).
    var operation: UInt8 = 0
    var lower: Int?
    /// Whether the lower link is in another namespace, where its index has no meaning for us.
    var isLowerElsewhere = false
    var master: Int?
    /// The value of `IFLA_INFO_KIND`; empty for a device with its own driver.
    var kind = ""

    init(index: Int, hardware: UInt16, flags: UInt32) {
        self.index = index
        self.hardware = hardware
        self.flags = flags
    }

    /// Creates a message from a libnl object.
    ///
    /// - Parameter link: A `struct rtnl_link`.
    init?(_ link: OpaquePointer) {
        // Bridges report their ports (AF_BRIDGE) by the same message; a removed port is no removed link.
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
