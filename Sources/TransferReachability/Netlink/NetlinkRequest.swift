import CTransferNetlink
import TransferCore

/// A request to route netlink.
enum NetlinkRequest: Sendable, Hashable {
    /// A request for all entries of a topic.
    case dump(NetlinkTopic, sequence: UInt32)
    /// A request for the route to an address.
    ///
    /// - Parameter isMatch: Whether the entry of the table itself is requested, rather than the resulting route. That
    ///   fails for a destination in no table.
    case route(to: IPAddress, over: Int?, isMatch: Bool, sequence: UInt32)

    /// Creates the message.
    ///
    /// - Returns: A `struct nl_msg`, which the caller must free; `nil` without memory.
    func message() -> OpaquePointer? {
        guard let message = nlmsg_alloc() else { return nil }
        guard write(to: message) else {
            nlmsg_free(message)
            return nil
        }
        return message
    }

    private func write(to message: OpaquePointer) -> Bool {
        switch self {
        case .dump(let topic, let sequence):
            let flags = NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
            guard nlmsg_put(message, UInt32(NL_AUTO_PORT), sequence, Int32(topic.request), 0, flags) != nil else {
                return false
            }
            let family = topic.version?.family ?? 0
            switch topic {
            case .links:
                // Packet counters change continuously, and make up most of a link's message.
                return append(ifinfomsg(), \.ifi_family, family, to: message)
                    && nla_put_u32(message, Int32(IFLA_EXT_MASK), UInt32(RTEXT_FILTER_SKIP_STATS)) == 0
            case .addresses4, .addresses6: return append(ifaddrmsg(), \.ifa_family, family, to: message)
            case .routes4, .routes6: return append(rtmsg(), \.rtm_family, family, to: message)
            case .rules4, .rules6: return append(fib_rule_hdr(), \.family, family, to: message)
            }
        case .route(let address, let link, let isMatch, let sequence):
            var header = rtmsg()
            var bytes = address.bytes
            header.rtm_dst_len = UInt8(bytes.count * 8)
            header.rtm_flags = UInt32(isMatch ? RTM_F_FIB_MATCH : RTM_F_LOOKUP_TABLE)
            guard
                nlmsg_put(message, UInt32(NL_AUTO_PORT), sequence, Int32(RTM_GETROUTE), 0, NLM_F_REQUEST) != nil,
                append(header, \.rtm_family, (address.isVersion6 ? IPVersion.v6 : .v4).family, to: message),
                nla_put(message, Int32(RTA_DST.rawValue), Int32(bytes.count), &bytes) == 0
            else { return false }
            return link.map { nla_put_u32(message, Int32(RTA_OIF.rawValue), UInt32(truncatingIfNeeded: $0)) == 0 }
                ?? true
        }
    }

    private func append<Header: BitwiseCopyable>(
        _ header: Header, _ field: WritableKeyPath<Header, UInt8>, _ family: UInt8, to message: OpaquePointer
    ) -> Bool {
        var header = header
        header[keyPath: field] = family
        return nlmsg_append(message, &header, MemoryLayout<Header>.size, Int32(NLMSG_ALIGNTO)) == 0
    }
}

/// A table of the kernel that one dump reads.
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

    /// Returns whether a message belongs to the topic. A kernel without a version of IP may answer with entries of the
    /// other.
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
