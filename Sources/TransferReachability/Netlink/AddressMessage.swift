import CTransferNetlink
import TransferCore

/// A message of the type `RTM_NEWADDR` or `RTM_DELADDR`.
struct AddressMessage: Sendable, Hashable {
    var link: Int
    var version: IPVersion
    var address: IPAddress
    var prefix: Int
    /// The scope, `RT_SCOPE_…`.
    var scope: UInt8
    /// The flags, `IFA_F_…`.
    var flags: UInt32

    init(link: Int, version: IPVersion, address: IPAddress, prefix: Int, scope: UInt8, flags: UInt32) {
        self.link = link
        self.version = version
        self.address = address
        self.prefix = prefix
        self.scope = scope
        self.flags = flags
    }

    /// Creates a message from a libnl object.
    ///
    /// - Parameter object: A `struct rtnl_addr`.
    init?(_ object: OpaquePointer) {
        guard let version = IPVersion(family: UInt8(truncatingIfNeeded: rtnl_addr_get_family(object))),
            let address = IPAddress(rtnl_addr_get_local(object)), address.isVersion6 == (version == .v6)
        else { return nil }
        self.init(
            link: Int(rtnl_addr_get_ifindex(object)), version: version, address: address,
            prefix: Int(rtnl_addr_get_prefixlen(object)), scope: UInt8(truncatingIfNeeded: rtnl_addr_get_scope(object)),
            flags: rtnl_addr_get_flags(object))
    }
}
