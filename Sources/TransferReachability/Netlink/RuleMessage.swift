import CTransferNetlink

/// A message of the type `RTM_NEWRULE` or `RTM_DELRULE` (ip-rule(8)).
struct RuleMessage: Sendable, Hashable {
    var version: IPVersion
    /// The action, `FR_ACT_…`.
    var action: UInt8
    var table: UInt32
    var priority: UInt32 = 0
    var mark: UInt32?
    var sourcePrefix: Int = 0
    var destinationPrefix: Int = 0
    var incoming = ""
    var outgoing = ""
    /// The maximum prefix length of routes that are ignored; `nil` for none.
    var suppressed: Int?
    var isInverted = false

    init(version: IPVersion, table: UInt32, priority: UInt32, action: UInt8 = UInt8(FR_ACT_TO_TBL)) {
        self.version = version
        self.action = action
        self.table = table
        self.priority = priority
    }

    /// Creates a message by reading each attribute. The library libnl-route 3.7 has no accessor for
    /// `FRA_SUPPRESS_PREFIXLEN`, which wg-quick(8) uses.
    init?(_ message: UnsafeMutablePointer<nlmsghdr>) {
        var attributes = [UnsafeMutablePointer<nlattr>?](repeating: nil, count: Int(TRANSFER_RULE_ATTRIBUTES))
        guard transfer_rule_attributes(message, &attributes) >= 0 else { return nil }
        let header = nlmsg_data(message).assumingMemoryBound(to: fib_rule_hdr.self).pointee
        guard let version = IPVersion(family: header.family) else { return nil }
        self.init(version: version, table: UInt32(header.table), priority: 0, action: header.action)
        sourcePrefix = Int(header.src_len)
        destinationPrefix = Int(header.dst_len)
        isInverted = header.flags & UInt32(FIB_RULE_INVERT) != 0
        priority = attributes[FRA_PRIORITY].map { nla_get_u32($0) } ?? 0
        mark = attributes[FRA_FWMARK].map { nla_get_u32($0) }
        table = attributes[FRA_TABLE].map { nla_get_u32($0) } ?? table
        incoming = Self.text(attributes[FRA_IIFNAME])
        outgoing = Self.text(attributes[FRA_OIFNAME])
        let least = attributes[FRA_SUPPRESS_PREFIXLEN].map { Int32(bitPattern: nla_get_u32($0)) } ?? -1
        suppressed = least >= 0 ? Int(least) : nil
    }

    private static func text(_ attribute: UnsafeMutablePointer<nlattr>?) -> String {
        guard let attribute else { return "" }
        let bytes = UnsafeRawBufferPointer(start: nla_data(attribute), count: Int(nla_len(attribute)))
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Whether a default route of the table applies to this machine's own packets. A rule only for marked packets, for
    /// arriving packets, or for a few destinations does not count.
    var leadsOut: Bool {
        action == UInt8(FR_ACT_TO_TBL) && suppressed == nil && (incoming.isEmpty || incoming == "lo")
            && (isInverted || (mark ?? 0) == 0 && destinationPrefix == 0)
    }
}
