public import TransferCore

extension NetworkSnapshot {
    /// A network interface.
    public struct Link: Sendable, Hashable {
        /// The kernel's number of it (`if_nametoindex(3)`), which a new name doesn't change.
        public var index: Int
        public var name: String
        public var kind: LinkKind
        /// Administratively up (`IFF_UP`, netdevice(7)).
        public var isUp: Bool
        /// There is something at the other end: a cable, an access point, a program that holds the tun.
        public var hasCarrier: Bool
        public var operation: OperationalState
        /// Bytes.
        public var mtu: Int
        /// The metering that is said of this link itself; ``NetworkSnapshot/metering(of:)`` looks beneath tunnels too.
        public var metering: Metering
        public var addresses: [Address]
        /// The index of the link that carries this one: what a VLAN is on, or a tunnel is bound to.
        public var lowerLink: Int?
        /// The index of the bridge or bond that this link is a port of.
        public var master: Int?

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

        public var isLoopback: Bool { kind == .loopback }
        public var isCellular: Bool { kind == .cellular }
        /// Up, and packets pass. Drivers that can't tell have the state `unknown`, which counts as up (RFC 2863).
        public var isRunning: Bool { isUp && hasCarrier && (operation == .up || operation == .unknown) }

        /// Whether it runs and has an address from which the world can be spoken to.
        public func canCarry(_ version: IPVersion) -> Bool {
            isRunning
                && addresses.contains {
                    $0.version == version && $0.isUsable && ($0.scope == .global || $0.scope == .site || version == .v4)
                        && $0.scope != .host
                }
        }
    }

    /// RFC 2863's state of an interface.
    public enum OperationalState: String, Sendable, Hashable, CaseIterable {
        case unknown
        case notPresent
        case down
        case lowerLayerDown
        case testing
        /// Waits for something, such as authentication by IEEE 802.1X.
        case dormant
        case up
    }

    /// An address of a link.
    public struct Address: Sendable, Hashable {
        /// How far an address is valid (`RT_SCOPE_…`, rtnetlink(7)).
        public enum Scope: String, Sendable, Hashable, CaseIterable {
            case global, site, link, host, other
        }

        public struct Flags: OptionSet, Sendable, Hashable {
            public let rawValue: UInt8
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// Still being checked for a double (RFC 4862): can't be used yet.
            public static let tentative = Flags(rawValue: 1)
            /// Not for new connections.
            public static let deprecated = Flags(rawValue: 2)
            /// Somebody else has it: can't be used.
            public static let duplicate = Flags(rawValue: 4)
            /// For privacy (RFC 8981), and gone after a while.
            public static let temporary = Flags(rawValue: 8)
        }

        public var address: IPAddress
        /// The bits of the network.
        public var prefix: Int
        public var scope: Scope
        public var flags: Flags

        public init(_ address: IPAddress, prefix: Int, scope: Scope = .global, flags: Flags = []) {
            self.address = address
            self.prefix = prefix
            self.scope = scope
            self.flags = flags
        }

        public var version: IPVersion { IPVersion(of: address) }
        public var isUsable: Bool { flags.isDisjoint(with: [.tentative, .duplicate]) }
    }
}
