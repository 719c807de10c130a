/// An interface of this machine, with the API of Apple's Network framework.
public struct NWInterface: Sendable, Hashable {
    /// The type of an interface.
    public enum InterfaceType: Sendable, Hashable, CaseIterable {
        case other, wifi, cellular, wiredEthernet, loopback
    }

    /// The kernel's name of the interface, such as `eth0`.
    public let name: String
    /// The kernel's index of the interface.
    public let index: Int
    /// The type of the link that finally carries the interface's traffic: a tunnel over a modem is cellular.
    public let type: InterfaceType
}

/// The routes to the network at one moment, with the API of Apple's Network framework.
public struct NWPath: Sendable, Hashable {
    /// The usability of a path.
    public enum Status: Sendable, Hashable {
        /// There is a route, or the kernel cannot be asked.
        case satisfied
        case unsatisfied
        /// A connection attempt might establish a route; the kernel never reports this.
        case requiresConnection
    }

    /// The usability of the path.
    public let status: Status
    /// The interfaces that lead out, in the kernel's order of preference.
    public let availableInterfaces: [NWInterface]
    /// Whether all routes are metered, to the extent known.
    public let isExpensive: Bool
    /// Whether the user requested low data usage; Linux has no such setting.
    public let isConstrained = false

    /// Returns whether the path has an interface of this type.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }
}

/// The rule that decides which interfaces count for a path.
struct PathRule: Sendable, Hashable {
    var required: NWInterface.InterfaceType?
    var prohibited: Set<NWInterface.InterfaceType> = []

    func allows(_ type: NWInterface.InterfaceType) -> Bool {
        (required == nil || required == type) && !prohibited.contains(type)
    }

    func path(in snapshot: NetworkSnapshot) -> NWPath {
        // A kernel that cannot be asked is no reason to wait.
        guard snapshot.isKnown else { return NWPath(status: .satisfied, availableInterfaces: [], isExpensive: false) }
        let interfaces = snapshot.waysOut.map { link in
            NWInterface(
                name: link.name, index: link.index, type: NWInterface.InterfaceType(snapshot.kind(of: link.index)))
        }.filter { allows($0.type) }
        return NWPath(
            status: interfaces.isEmpty ? .unsatisfied : .satisfied, availableInterfaces: interfaces,
            isExpensive: !interfaces.isEmpty && interfaces.allSatisfy { $0.isPaidFor(in: snapshot) })
    }
}

extension NWInterface {
    fileprivate func isPaidFor(in snapshot: NetworkSnapshot) -> Bool {
        switch snapshot.metering(of: index) {
        case .yes, .guessedYes: true
        case .no, .guessedNo: false
        default: type == .cellular
        }
    }
}

extension NWInterface.InterfaceType {
    init(_ kind: LinkKind) {
        switch kind {
        case .wifi: self = .wifi
        case .cellular: self = .cellular
        case .loopback: self = .loopback
        case .ethernet, .bridge, .bond, .vlan, .macVLAN, .virtualEthernet: self = .wiredEthernet
        case .ppp, .tunnel, .wireGuard, .dummy, .other: self = .other
        }
    }
}
