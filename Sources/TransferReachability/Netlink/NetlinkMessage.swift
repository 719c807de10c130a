import CTransferNetlink
import Glibc
import TransferCore

/// One message of route netlink (rtnetlink(7)), as far as it concerns the ways to the network.
enum NetlinkMessage: Sendable, Hashable {
    enum Change: Sendable, Hashable {
        case new, deleted
    }

    case link(LinkMessage, Change)
    case address(AddressMessage, Change)
    case route(RouteMessage, Change)
    case rule(RuleMessage, Change)
    /// A nexthop object: routes that use it may have changed without a word of them.
    case nexthop
    /// A dump's end, with its `errno`, or 0.
    case done(Int32)
    /// A request's refusal, with its `errno`; 0 for an acknowledgement.
    case error(Int32)
    /// Something was lost.
    case overrun
    /// What doesn't concern us, or can't be read.
    case other
}

/// A message with what its header says.
struct NetlinkFrame: Sendable, Hashable {
    var message: NetlinkMessage
    /// Of the request that it answers.
    var sequence: UInt32 = 0
    /// Of the socket that asked.
    var port: UInt32 = 0
    /// What is dumped has changed in between (`NLM_F_DUMP_INTR`).
    var isInterrupted = false
    /// Part of a dump (`NLM_F_MULTI`).
    var isPart = false
    var isReplacing = false
    var isAppending = false

    /// Reads a datagram. What follows bytes that make no message is lost, which is an `overrun`.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [NetlinkFrame] {
        let datagram = NetlinkPayload(bytes)
        var frames: [NetlinkFrame] = []
        var offset = 0
        while offset < datagram.count {
            guard let length = datagram.integer(UInt32.self, at: offset).map(Int.init), length >= headerSize,
                let message = datagram.part(from: offset)?.part(0..<length), let frame = frame(message)
            else {
                frames.append(NetlinkFrame(message: .overrun))
                break
            }
            frames.append(frame)
            offset += (length + 3) & ~3
        }
        return frames
    }

    private static let headerSize = 16

    private static func frame(_ bytes: NetlinkPayload) -> NetlinkFrame? {
        guard let type = bytes.integer(UInt16.self, at: 4).map(Int.init),
            let flags = bytes.integer(UInt16.self, at: 6).map({ Int32($0) }),
            let sequence = bytes.integer(UInt32.self, at: 8), let port = bytes.integer(UInt32.self, at: 12),
            let payload = bytes.part(from: headerSize)
        else { return nil }
        let message = message(type, payload)
        var frame = NetlinkFrame(message: message, sequence: sequence, port: port)
        frame.isInterrupted = flags & NLM_F_DUMP_INTR != 0
        frame.isPart = flags & NLM_F_MULTI != 0
        // The same bits mean other things in requests.
        if case .route(_, .new) = message {
            frame.isReplacing = flags & NLM_F_REPLACE != 0
            frame.isAppending = flags & NLM_F_APPEND != 0
        }
        return frame
    }

    private static func message(_ type: Int, _ payload: NetlinkPayload) -> NetlinkMessage {
        switch type {
        case RTM_NEWLINK: LinkMessage(payload).map { .link($0, .new) } ?? .other
        case RTM_DELLINK: LinkMessage(payload).map { .link($0, .deleted) } ?? .other
        case RTM_NEWADDR: AddressMessage(payload).map { .address($0, .new) } ?? .other
        case RTM_DELADDR: AddressMessage(payload).map { .address($0, .deleted) } ?? .other
        case RTM_NEWROUTE: RouteMessage(payload).map { .route($0, .new) } ?? .other
        case RTM_DELROUTE: RouteMessage(payload).map { .route($0, .deleted) } ?? .other
        case RTM_NEWRULE: RuleMessage(payload).map { .rule($0, .new) } ?? .other
        case RTM_DELRULE: RuleMessage(payload).map { .rule($0, .deleted) } ?? .other
        case RTM_NEWNEXTHOP, RTM_DELNEXTHOP: .nexthop
        case Int(NLMSG_DONE): .done(-(payload.integer(Int32.self).map { max($0, -Int32.max) } ?? 0))
        case Int(NLMSG_ERROR): .error(-(payload.integer(Int32.self).map { max($0, -Int32.max) } ?? 0))
        case Int(NLMSG_OVERRUN): .overrun
        default: .other
        }
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
