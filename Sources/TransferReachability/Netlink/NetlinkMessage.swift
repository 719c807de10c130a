import CTransferNetlink
import Glibc
import TransferCore

/// A message of route netlink (rtnetlink(7)), to the extent that it concerns default routes.
enum NetlinkMessage: Sendable, Hashable {
    enum Change: Sendable, Hashable {
        case new, deleted
    }

    case link(LinkMessage, Change)
    case address(AddressMessage, Change)
    case route(RouteMessage, Change)
    case rule(RuleMessage, Change)
    /// A change of a nexthop object; routes that use it may have changed without a message.
    case nexthop
    /// The end of a dump, with its `errno`, or 0.
    case done(Int32)
    /// The refusal of a request, with its `errno`; 0 for an acknowledgement.
    case error(Int32)
    /// The report that messages were lost.
    case overrun
    /// An irrelevant or unreadable message.
    case other
}

/// A message with the data of its header.
struct NetlinkFrame: Sendable, Hashable {
    var message: NetlinkMessage
    /// The number of the request to which the message replies.
    var sequence: UInt32 = 0
    /// The port of the socket that sent the request.
    var port: UInt32 = 0
    /// Whether the dumped table changed during the dump (`NLM_F_DUMP_INTR`).
    var isInterrupted = false
    /// Whether the message is part of a dump (`NLM_F_MULTI`).
    var isPart = false
    var isReplacing = false
    var isAppending = false

    /// Parses a datagram. The data after bytes that are no message is lost, which yields an `overrun`.
    ///
    /// - Parameter bytes: The datagram, aligned like `struct nlmsghdr`; it is not changed.
    static func parse(_ bytes: UnsafeMutableRawBufferPointer) -> [NetlinkFrame] {
        var frames: [NetlinkFrame] = []
        var left = Int32(bytes.count)
        var next = bytes.baseAddress?.assumingMemoryBound(to: nlmsghdr.self)
        while let header = next, nlmsg_ok(header, left) != 0 {
            frames.append(frame(header))
            next = nlmsg_next(header, &left)
        }
        if left > 0 { frames.append(NetlinkFrame(message: .overrun)) }
        return frames
    }

    private static func frame(_ header: UnsafeMutablePointer<nlmsghdr>) -> NetlinkFrame {
        let message = message(header)
        let flags = Int32(header.pointee.nlmsg_flags)
        var frame = NetlinkFrame(
            message: message, sequence: header.pointee.nlmsg_seq, port: header.pointee.nlmsg_pid)
        frame.isInterrupted = flags & NLM_F_DUMP_INTR != 0
        frame.isPart = flags & NLM_F_MULTI != 0
        // The same bits have other meanings in requests.
        if case .route(_, .new) = message {
            frame.isReplacing = flags & NLM_F_REPLACE != 0
            frame.isAppending = flags & NLM_F_APPEND != 0
        }
        return frame
    }

    private static func message(_ header: UnsafeMutablePointer<nlmsghdr>) -> NetlinkMessage {
        let type = Int(header.pointee.nlmsg_type)
        return switch type {
        case RTM_NEWLINK, RTM_DELLINK:
            NetlinkObject.read(header) { LinkMessage($0) }.map { .link($0, type == RTM_NEWLINK ? .new : .deleted) }
                ?? .other
        case RTM_NEWADDR, RTM_DELADDR:
            NetlinkObject.read(header) { AddressMessage($0) }.map {
                .address($0, type == RTM_NEWADDR ? .new : .deleted)
            }
                ?? .other
        case RTM_NEWROUTE, RTM_DELROUTE:
            NetlinkObject.read(header) { RouteMessage($0) }.map { .route($0, type == RTM_NEWROUTE ? .new : .deleted) }
                ?? .other
        case RTM_NEWRULE, RTM_DELRULE:
            RuleMessage(header).map { .rule($0, type == RTM_NEWRULE ? .new : .deleted) } ?? .other
        // The library libnl-route 3.7 has no object for these.
        case RTM_NEWNEXTHOP, RTM_DELNEXTHOP: .nexthop
        case Int(NLMSG_DONE): .done(code(header))
        case Int(NLMSG_ERROR): .error(code(header))
        case Int(NLMSG_OVERRUN): .overrun
        default: .other
        }
    }

    /// Returns the `errno` with which a dump or a request ended.
    private static func code(_ header: UnsafeMutablePointer<nlmsghdr>) -> Int32 {
        guard nlmsg_datalen(header) >= MemoryLayout<Int32>.size else { return 0 }
        return -max(nlmsg_data(header).loadUnaligned(as: Int32.self), -Int32.max)
    }
}

extension IPVersion {
    init?(family: UInt8) {
        switch Int32(family) {
        case AF_INET: self = .v4
        case AF_INET6: self = .v6
        default: return nil
        }
    }

    var family: UInt8 { UInt8(self == .v4 ? AF_INET : AF_INET6) }
}
