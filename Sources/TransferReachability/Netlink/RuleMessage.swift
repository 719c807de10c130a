import CTransferNetlink

/// `RTM_NEWRULE` and `RTM_DELRULE`: a `struct fib_rule_hdr` and its attributes (ip-rule(8)).
struct RuleMessage: Sendable, Hashable {
    var version: IPVersion
    /// `FR_ACT_…`
    var action: UInt8
    var table: UInt32
    var priority: UInt32 = 0
    var mark: UInt32?
    var sourcePrefix: Int = 0
    var destinationPrefix: Int = 0
    var incoming = ""
    var outgoing = ""
    /// Routes with a prefix of at most this length don't count.
    var suppressed: Int?
    var isInverted = false

    init(version: IPVersion, table: UInt32, priority: UInt32, action: UInt8 = UInt8(FR_ACT_TO_TBL)) {
        self.version = version
        self.action = action
        self.table = table
        self.priority = priority
    }

    init?(_ bytes: NetlinkPayload) {
        guard let version = bytes.integer(UInt8.self).flatMap(IPVersion.init(family:)),
            let destination = bytes.integer(UInt8.self, at: 1), let source = bytes.integer(UInt8.self, at: 2),
            let table = bytes.integer(UInt8.self, at: 4), let action = bytes.integer(UInt8.self, at: 7),
            let flags = bytes.integer(UInt32.self, at: 8)
        else { return nil }
        self.init(version: version, table: UInt32(table), priority: 0, action: action)
        sourcePrefix = Int(source)
        destinationPrefix = Int(destination)
        isInverted = flags & UInt32(FIB_RULE_INVERT) != 0
        bytes.forEachAttribute(from: 12) { type, value in
            switch type {
            case FRA_PRIORITY: priority = value.integer(UInt32.self) ?? 0
            case FRA_FWMARK: mark = value.integer(UInt32.self)
            case FRA_TABLE: self.table = value.integer(UInt32.self) ?? self.table
            case FRA_IIFNAME: incoming = value.text
            case FRA_OIFNAME: outgoing = value.text
            case FRA_SUPPRESS_PREFIXLEN: suppressed = value.integer(Int32.self).flatMap { $0 >= 0 ? Int($0) : nil }
            default: break
            }
        }
    }

    /// Whether a default route of its table is a way for what this machine sends: not for marked packets only, nor for
    /// what arrives over a link, nor for a few destinations.
    var leadsOut: Bool {
        action == UInt8(FR_ACT_TO_TBL) && suppressed == nil && (incoming.isEmpty || incoming == "lo")
            && (isInverted || (mark ?? 0) == 0 && destinationPrefix == 0)
    }
}
