/// An interface of this machine, under the name that Apple's Network framework has for it.
public struct NWInterface: Sendable, Hashable {
    public enum InterfaceType: Sendable, Hashable, CaseIterable {
        case other, wifi, cellular, wiredEthernet, loopback
    }

    /// As the kernel has it: `eth0`.
    public let name: String
    public let index: Int
    /// The type of the link that carries it in the end: a tunnel over a modem is cellular.
    public let type: InterfaceType
}

/// The ways to the network at one moment, under the name that Apple's Network framework has for them.
public struct NWPath: Sendable, Hashable {
    public enum Status: Sendable, Hashable {
        /// There is a way, or the kernel doesn't tell.
        case satisfied
        case unsatisfied
        /// There might be one if it were tried; the kernel never says so.
        case requiresConnection
    }

    public let status: Status
    /// The interfaces that are ways out, the preferred first.
    public let availableInterfaces: [NWInterface]
    /// Whether every way is paid for by the byte, as far as that is known.
    public let isExpensive: Bool
    /// Whether the user asked for little traffic; there is no such setting on Linux.
    public let isConstrained = false

    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }
}

/// The rule that says which interfaces count as ways to the network.
struct PathRule: Sendable, Hashable {
    var required: NWInterface.InterfaceType?
    var prohibited: Set<NWInterface.InterfaceType> = []

    func allows(_ type: NWInterface.InterfaceType) -> Bool {
        (required == nil || required == type) && !prohibited.contains(type)
    }

    func path(in snapshot: NetworkSnapshot) -> NWPath {
        // A kernel that doesn't tell is no reason to wait.
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
