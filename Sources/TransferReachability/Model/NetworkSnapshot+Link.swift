public import TransferCore

extension NetworkSnapshot {
    /// A network interface.
    public struct Link: Sendable, Hashable {
        /// The kernel's index of the link (`if_nametoindex(3)`), which a renaming does not change.
        public var index: Int
        /// The name, such as `eth0`.
        public var name: String
        /// The kind of the link.
        public var kind: LinkKind
        /// Whether the link is administratively up (`IFF_UP`, netdevice(7)).
        public var isUp: Bool
        /// Whether there is a peer: a cable, an access point, or a program that holds the tun.
        public var hasCarrier: Bool
        /// The operational state.
        public var operation: OperationalState
        /// The maximum size of a packet, in bytes.
        public var mtu: Int
        /// The metering of this link itself; ``NetworkSnapshot/metering(of:)`` also considers the links beneath
        /// tunnels.
        public var metering: Metering
        /// The addresses of the link.
        public var addresses: [Address]
        /// The index of the link that carries this one: the parent of a VLAN, or the link to which a tunnel is bound.
        public var lowerLink: Int?
        /// The index of the bridge or bond of which this link is a port.
        public var master: Int?

        /// Creates a link; `mtu` is in bytes.
        public init(
            index: Int, name: String, kind: LinkKind = .ethernet, isUp: Bool = true, hasCarrier: Bool = true,
            operation: OperationalState = .up, mtu: Int = 1500, metering: Metering = .unknown,
            addresses: [Address] = [], lowerLink: Int? = nil, master: Int? = nil
        ) {
            self.index = index
            self.name = name
            self.kind = kind
            self.isUp = isUp
            self.hasCarrier = hasCarrier
            self.operation = operation
            self.mtu = mtu
            self.metering = metering
            self.addresses = addresses
            self.lowerLink = lowerLink
            self.master = master
        }

        /// Whether this is the loopback link.
        public var isLoopback: Bool { kind == .loopback }
        /// Whether this is a modem.
        public var isCellular: Bool { kind == .cellular }
        /// Whether the link is up and packets pass. Drivers without this information have the state `unknown`, which
        /// counts as up (RFC 2863).
        public var isRunning: Bool { isUp && hasCarrier && (operation == .up || operation == .unknown) }

        /// Returns whether the link is running and has an address that reaches beyond it.
        public func canCarry(_ version: IPVersion) -> Bool {
            isRunning
                && addresses.contains {
                    $0.version == version && $0.isUsable && ($0.scope == .global || $0.scope == .site || version == .v4)
                        && $0.scope != .host
                }
        }
    }

    /// The state of an interface by RFC 2863.
    public enum OperationalState: String, Sendable, Hashable, CaseIterable {
        case unknown
        case notPresent
        case down
        case lowerLayerDown
        case testing
        /// The link waits for an event, such as authentication by IEEE 802.1X.
        case dormant
        case up
    }

    /// An address of a link.
    public struct Address: Sendable, Hashable {
        /// The range in which an address is valid (`RT_SCOPE_…`, rtnetlink(7)).
        public enum Scope: String, Sendable, Hashable, CaseIterable {
            case global, site, link, host, other
        }

        /// The flags of an address.
        public struct Flags: OptionSet, Sendable, Hashable {
            /// The bits of the set.
            public let rawValue: UInt8
            /// Creates a set from its bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// The address is still checked for duplicates (RFC 4862), so it cannot be used yet.
            public static let tentative = Flags(rawValue: 1)
            /// The address is not for new connections.
            public static let deprecated = Flags(rawValue: 2)
            /// Another machine has the address, so it cannot be used.
            public static let duplicate = Flags(rawValue: 4)
            /// The address is for privacy (RFC 8981), and temporary.
            public static let temporary = Flags(rawValue: 8)
        }

        /// The address.
        public var address: IPAddress
        /// The number of bits of the network part.
        public var prefix: Int
        /// The range in which the address is valid.
        public var scope: Scope
        /// The flags of the address.
        public var flags: Flags

        /// Creates an address; `prefix` is the number of bits of the network part.
        public init(_ address: IPAddress, prefix: Int, scope: Scope = .global, flags: Flags = []) {
            self.address = address
            self.prefix = prefix
            self.scope = scope
            self.flags = flags
        }

        /// The version of IP.
        public var version: IPVersion { IPVersion(of: address) }
        /// Whether the address can be used: it is neither tentative nor a duplicate.
        public var isUsable: Bool { flags.isDisjoint(with: [.tentative, .duplicate]) }
    }
}
