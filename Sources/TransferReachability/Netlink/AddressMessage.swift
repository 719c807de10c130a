import CTransferNetlink
import TransferCore

/// `RTM_NEWADDR` and `RTM_DELADDR`: a `struct ifaddrmsg` and its attributes.
struct AddressMessage: Sendable, Hashable {
    var link: Int
    var version: IPVersion
    var address: IPAddress
    var prefix: Int
    /// `RT_SCOPE_…`
    var scope: UInt8
    /// `IFA_F_…`
    var flags: UInt32

    init(link: Int, version: IPVersion, address: IPAddress, prefix: Int, scope: UInt8, flags: UInt32) {
        self.link = link
        self.version = version
        self.address = address
        self.prefix = prefix
        self.scope = scope
        self.flags = flags
    }

    init?(_ bytes: NetlinkPayload) {
        guard let version = bytes.integer(UInt8.self).flatMap(IPVersion.init(family:)),
            let prefix = bytes.integer(UInt8.self, at: 1), let shortFlags = bytes.integer(UInt8.self, at: 2),
            let scope = bytes.integer(UInt8.self, at: 3), let link = bytes.integer(UInt32.self, at: 4)
        else { return nil }
        var (local, peer): ([UInt8]?, [UInt8]?)
        var flags = UInt32(shortFlags)
        bytes.forEachAttribute(from: 8) { type, value in
            switch type {
            // With a peer, IFA_ADDRESS is the peer's.
            case IFA_LOCAL: local = value.bytes
            case IFA_ADDRESS: peer = value.bytes
            case IFA_FLAGS: flags = value.integer(UInt32.self) ?? flags
            default: break
            }
        }
        guard let address = (local ?? peer).flatMap({ IPAddress(bytes: $0) }), address.isVersion6 == (version == .v6)
        else { return nil }
        self.init(
            link: Int(link), version: version, address: address, prefix: Int(prefix), scope: scope, flags: flags)
    }
}
