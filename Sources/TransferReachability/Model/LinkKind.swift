/// The kind of a link of this machine.
public enum LinkKind: String, Sendable, Hashable, CaseIterable {
    case ethernet
    case wifi
    /// A modem (WWAN).
    case cellular
    /// A PPP link (a dial-up, DSL, or an older modem); ppp(4) shows no details.
    case ppp
    /// A tunnel or a VPN: tun and tap, IP in IP, GRE, SIT, VXLAN and similar.
    case tunnel
    case wireGuard = "wireguard"
    case bridge
    /// Several links combined into one (bonding and team).
    case bond
    case vlan
    /// A virtual interface on another link (macvlan, ipvlan).
    case macVLAN = "macvlan"
    /// One end of a pair (veth(4)), as in containers.
    case virtualEthernet = "veth"
    /// A link that carries no traffic.
    case dummy
    case loopback
    case other

    /// Whether another link carries this link's traffic to a remote end.
    public var isTunnel: Bool { self == .tunnel || self == .wireGuard }

    /// Whether the link is made of other links or of none, rather than being a device with its own connection.
    public var isVirtual: Bool {
        switch self {
        case .ethernet, .wifi, .cellular, .ppp: false
        case .tunnel, .wireGuard, .bridge, .bond, .vlan, .macVLAN, .virtualEthernet, .dummy, .loopback, .other: true
        }
    }

    /// Creates the kind of a link.
    ///
    /// - Parameters:
    ///   - kind: The `IFLA_INFO_KIND` of rtnetlink(7), as in `ip -d link`; empty where a link has none.
    ///   - hardware: The ARPHRD type (netdevice(7)).
    ///   - facts: The properties in sysfs; `nil` where it does not show the link.
    ///   - name: The link's name, which decides where nothing else does.
    init(kind: String, hardware: UInt16, facts: LinkFacts?, name: String) {
        self =
            facts.flatMap { Self.radio($0) } ?? Self.radio(kind: kind, hardware: hardware, name: name)
            ?? Self.byKind[kind] ?? facts.flatMap { Self.byDevice($0) } ?? Self.byHardware[hardware]
            ?? (Self.etherTypes.contains(hardware) ? .ethernet : .other)
    }

    /// Returns the kind of a radio device; that it is one precedes all other properties.
    private static func radio(_ facts: LinkFacts) -> LinkKind? {
        if facts.isWireless || facts.deviceType == "wlan" { return .wifi }
        return facts.deviceType == "wwan" ? .cellular : nil
    }

    /// Returns the kind of a radio device by its name, where nothing better identifies it
    /// (systemd.net-naming-scheme(7)). Names also count for virtual links that stand in for such devices. A tun with
    /// another hardware type than its own (tun(4), `TUNSETLINK`) stands in for that type.
    private static func radio(kind: String, hardware: UInt16, name: String) -> LinkKind? {
        if kind == "tun", ![1, 65534].contains(hardware), let known = byHardware[hardware] { return known }
        guard kind.isEmpty || kind == "veth", hardware == 1 || hardware == 65534 else { return nil }
        if ["wwan", "wwp", "wwx", "rmnet"].contains(where: name.hasPrefix) { return .cellular }
        return ["wlan", "wlp", "wlx", "wlo", "wls"].contains(where: name.hasPrefix) ? .wifi : nil
    }

    private static let byKind: [String: LinkKind] = {
        var kinds: [String: LinkKind] = [
            "wireguard": .wireGuard, "bridge": .bridge, "openvswitch": .bridge, "bond": .bond, "team": .bond,
            "vlan": .vlan, "veth": .virtualEthernet, "netkit": .virtualEthernet, "dummy": .dummy, "ifb": .dummy,
            "nlmon": .dummy, "wwan": .cellular, "rmnet": .cellular, "ppp": .ppp, "virt_wifi": .wifi, "dsa": .ethernet,
            "vrf": .other, "can": .other, "vcan": .other, "vxcan": .other,
        ]
        for name in ["macvlan", "macvtap", "ipvlan", "ipvtap"] { kinds[name] = .macVLAN }
        let tunnels = [
            "tun", "ipip", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ip6gretap", "ip6erspan", "vti",
            "vti6",
            "xfrm", "vxlan", "geneve", "bareudp", "gtp", "ovpn", "ovpn-dco", "amt", "l2tp",
        ]
        for name in tunnels { kinds[name] = .tunnel }
        return kinds
    }()

    private static func byDevice(_ facts: LinkFacts) -> LinkKind? {
        switch facts.deviceType {
        case "bridge": return .bridge
        case "bond": return .bond
        case "vlan": return .vlan
        case "ppp": return .ppp
        case "wireguard": return .wireGuard
        case "vxlan", "geneve": return .tunnel
        default: return nil
        }
    }

    /// The kinds of hardware types (linux/if_arp.h).
    private static let byHardware: [UInt16: LinkKind] = [
        512: .ppp, 519: .cellular, 768: .tunnel, 769: .tunnel, 772: .loopback, 776: .tunnel, 777: .tunnel, 778: .tunnel,
        801: .wifi, 802: .wifi, 803: .wifi, 823: .tunnel, 65534: .tunnel,
    ]

    /// The hardware types of Ethernet and InfiniBand.
    private static let etherTypes: Set<UInt16> = [1, 32]
}
