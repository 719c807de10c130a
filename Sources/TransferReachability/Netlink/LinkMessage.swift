import CTransferNetlink
import Glibc

/// `RTM_NEWLINK` and `RTM_DELLINK`: a `struct ifinfomsg` and its attributes.
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
    var carrier: Bool?
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

    init?(_ bytes: NetlinkPayload) {
        // Bridges tell of their ports (AF_BRIDGE) by the same message: a port that leaves is no link that goes.
        guard bytes.integer(UInt8.self) == UInt8(AF_UNSPEC), let hardware = bytes.integer(UInt16.self, at: 2),
            let index = bytes.integer(Int32.self, at: 4), index > 0, let flags = bytes.integer(UInt32.self, at: 8),
            bytes.count >= 16
        else { return nil }
        self.init(index: Int(index), hardware: hardware, flags: flags)
        bytes.forEachAttribute(from: 16) { type, value in read(type, value) }
    }

    private mutating func read(_ type: Int, _ value: NetlinkPayload) {
        switch type {
        case IFLA_IFNAME: name = value.text
        case IFLA_MTU: mtu = value.integer(UInt32.self).map(Int.init)
        case IFLA_OPERSTATE: operation = value.integer(UInt8.self) ?? 0
        case IFLA_CARRIER: carrier = value.integer(UInt8.self).map { $0 != 0 }
        case IFLA_LINK: lower = value.integer(Int32.self).flatMap { $0 > 0 ? Int($0) : nil }
        case IFLA_LINK_NETNSID: isLowerElsewhere = true
        case IFLA_MASTER: master = value.integer(Int32.self).flatMap { $0 > 0 ? Int($0) : nil }
        case IFLA_LINKINFO:
            value.forEachAttribute(from: 0) { type, value in if type == IFLA_INFO_KIND { kind = value.text } }
        default: break
        }
    }
}
