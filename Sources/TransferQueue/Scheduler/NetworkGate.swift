import TransferCore

/// What the network lets start, as the scheduler has to know it.
struct NetworkGate: Sendable, Equatable {
    /// Rules (``Lane/network``) under which nothing may start, but for what stays on this machine.
    var closed: Set<String> = []
    /// Rules under which there is no way out at all: what has an address may be on a network that needs none.
    var offline: Set<String> = []
    /// Origins that the network which is there doesn't lead to.
    var unreachable: Set<Lane> = []

    func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool {
        switch reach {
        case .local: return true
        case .address: return !closed.contains(lane.network) && !unreachable.contains(lane)
        case .name:
            return !closed.contains(lane.network) && !offline.contains(lane.network) && !unreachable.contains(lane)
        }
    }
}

/// What an origin says of the way to it.
enum OriginReach: Sendable, Hashable {
    /// This machine itself: always there, whatever becomes of the network.
    case local
    case address(IPAddress)
    case name

    init(origin: String) {
        guard let host = Origin(anyURL: origin)?.host else {
            self = .name
            return
        }
        self.init(host: host)
    }

    init(host: String) {
        if let address = IPAddress(host) {
            self = address.isLoopback ? .local : .address(address)
        } else {
            // RFC 6761 §6.3
            self = host == "localhost" || host.hasSuffix(".localhost") ? .local : .name
        }
    }
}
