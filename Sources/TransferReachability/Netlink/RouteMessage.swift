import CTransferNetlink
import TransferCore

/// `RTM_NEWROUTE` and `RTM_DELROUTE`: a `struct rtmsg` and its attributes.
struct RouteMessage: Sendable, Hashable {
    struct Hop: Sendable, Hashable {
        var link: Int
        var gateway: IPAddress?
    }

    var version: IPVersion
    /// The length of the destination's prefix; 0 is a default route.
    var prefix: Int
    var table: UInt32
    /// `RTN_…`
    var type: UInt8
    var serviceType: UInt8 = 0
    var hops: [Hop] = []
    var metric: UInt32 = 0
    var source: IPAddress?
    /// A copy for one destination (`RTM_F_CLONED`), as an answer to a question is.
    var isClone = false

    init(version: IPVersion, prefix: Int, table: UInt32, type: UInt8 = UInt8(RTN_UNICAST)) {
        self.version = version
        self.prefix = prefix
        self.table = table
        self.type = type
    }

    init?(_ bytes: NetlinkPayload) {
        guard let version = bytes.integer(UInt8.self).flatMap(IPVersion.init(family:)),
            let prefix = bytes.integer(UInt8.self, at: 1), let serviceType = bytes.integer(UInt8.self, at: 3),
            let table = bytes.integer(UInt8.self, at: 4), let type = bytes.integer(UInt8.self, at: 7),
            let flags = bytes.integer(UInt32.self, at: 8)
        else { return nil }
        self.init(version: version, prefix: Int(prefix), table: UInt32(table), type: type)
        self.serviceType = serviceType
        isClone = flags & UInt32(RTM_F_CLONED) != 0
        var only = Hop(link: 0)
        bytes.forEachAttribute(from: 12) { type, value in
            switch UInt32(type) {
            case RTA_OIF.rawValue: only.link = value.integer(UInt32.self).map(Int.init) ?? 0
            case RTA_GATEWAY.rawValue: only.gateway = IPAddress(bytes: value.bytes)
            case RTA_VIA.rawValue: only.gateway = Self.via(value)
            case RTA_PRIORITY.rawValue: metric = value.integer(UInt32.self) ?? 0
            // Numbers above 255 don't fit into the header.
            case RTA_TABLE.rawValue: self.table = value.integer(UInt32.self) ?? self.table
            case RTA_PREFSRC.rawValue: source = IPAddress(bytes: value.bytes)
            case RTA_MULTIPATH.rawValue: hops = Self.hops(value)
            default: break
            }
        }
        if hops.isEmpty, only.link > 0 { hops = [only] }
    }

    /// `struct rtvia`: a gateway of the other version of IP.
    private static func via(_ value: NetlinkPayload) -> IPAddress? {
        value.part(from: 2).flatMap { IPAddress(bytes: $0.bytes) }
    }

    /// A row of `struct rtnexthop`, each with attributes of its own.
    private static func hops(_ bytes: NetlinkPayload) -> [Hop] {
        var hops: [Hop] = []
        var offset = 0
        while let length = bytes.integer(UInt16.self, at: offset).map(Int.init), length >= 8,
            let part = bytes.part(from: offset)?.part(0..<length), let link = part.integer(Int32.self, at: 4)
        {
            var hop = Hop(link: Int(link))
            part.forEachAttribute(from: 8) { type, value in
                if UInt32(type) == RTA_GATEWAY.rawValue { hop.gateway = IPAddress(bytes: value.bytes) }
                if UInt32(type) == RTA_VIA.rawValue { hop.gateway = via(value) }
            }
            hops.append(hop)
            offset += (length + 3) & ~3
        }
        return hops
    }

    /// Whether it's a way to everywhere.
    var isDefault: Bool { prefix == 0 && type == UInt8(RTN_UNICAST) && !isClone && !hops.isEmpty }

    /// What the kernel tells default routes apart by (ip-route(8)): one of the same place can replace another.
    struct Place: Sendable, Hashable {
        var version: IPVersion
        var table: UInt32
        var metric: UInt32
        var serviceType: UInt8
    }

    var place: Place { Place(version: version, table: table, metric: metric, serviceType: serviceType) }
}
