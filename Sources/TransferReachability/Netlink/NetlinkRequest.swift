import CTransferNetlink
import TransferCore

/// What can be asked of route netlink, as bytes.
struct NetlinkRequest: Sendable, Hashable {
    private(set) var bytes: [UInt8]

    /// Everything of a topic.
    init(dump topic: NetlinkTopic, sequence: UInt32) {
        bytes = []
        append(UInt32(0))
        append(UInt16(topic.request))
        append(UInt16(NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH))
        append(sequence)
        append(UInt32(0))
        bytes.append(topic.version?.family ?? 0)
        bytes.append(contentsOf: repeatElement(0, count: topic.headerSize - 1))
        // Counters of packets change all the time, and make up most of a link's message.
        if topic == .links { attribute(UInt16(IFLA_EXT_MASK), UInt32(RTEXT_FILTER_SKIP_STATS)) }
        close()
    }

    /// The route to an address.
    ///
    /// - Parameter isMatch: The entry of the table itself is wanted, and not what is made of it; that fails for what is
    ///   in no table.
    init(routeTo address: IPAddress, over link: Int?, isMatch: Bool = false, sequence: UInt32) {
        bytes = []
        append(UInt32(0))
        append(UInt16(RTM_GETROUTE))
        append(UInt16(NLM_F_REQUEST))
        append(sequence)
        append(UInt32(0))
        bytes.append((address.isVersion6 ? IPVersion.v6 : .v4).family)
        bytes.append(UInt8(address.bytes.count * 8))
        bytes.append(contentsOf: [0, 0, 0, 0, 0, 0])
        append(UInt32(isMatch ? RTM_F_FIB_MATCH : RTM_F_LOOKUP_TABLE))
        append(UInt16(4 + address.bytes.count))
        append(UInt16(RTA_DST.rawValue))
        bytes.append(contentsOf: address.bytes)
        if let link { attribute(UInt16(RTA_OIF.rawValue), UInt32(truncatingIfNeeded: link)) }
        close()
    }

    private mutating func attribute(_ type: UInt16, _ value: UInt32) {
        append(UInt16(8))
        append(type)
        append(value)
    }

    private mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    /// The length stands first and is known last.
    private mutating func close() {
        let length = UInt32(bytes.count)
        withUnsafeBytes(of: length) { bytes.replaceSubrange(0..<4, with: $0) }
    }
}

/// What is dumped at a time.
enum NetlinkTopic: Sendable, Hashable, CaseIterable {
    case links, addresses4, addresses6, routes4, routes6, rules4, rules6

    static func routes(_ version: IPVersion) -> NetlinkTopic { version == .v4 ? .routes4 : .routes6 }

    var version: IPVersion? {
        switch self {
        case .links: nil
        case .addresses4, .routes4, .rules4: .v4
        case .addresses6, .routes6, .rules6: .v6
        }
    }

    fileprivate var request: Int {
        switch self {
        case .links: RTM_GETLINK
        case .addresses4, .addresses6: RTM_GETADDR
        case .routes4, .routes6: RTM_GETROUTE
        case .rules4, .rules6: RTM_GETRULE
        }
    }

    fileprivate var headerSize: Int {
        switch self {
        case .links: 16
        case .addresses4, .addresses6: 8
        case .routes4, .routes6, .rules4, .rules6: 12
        }
    }

    /// Where a kernel without a version of IP answers with the other's, it's none of the topic's.
    func contains(_ message: NetlinkMessage) -> Bool {
        switch message {
        case .link: self == .links
        case .address(let address, _): self == (address.version == .v4 ? .addresses4 : .addresses6)
        case .route(let route, _): self == .routes(route.version)
        case .rule(let rule, _): self == (rule.version == .v4 ? .rules4 : .rules6)
        case .nexthop, .done, .error, .overrun, .other: false
        }
    }
}
