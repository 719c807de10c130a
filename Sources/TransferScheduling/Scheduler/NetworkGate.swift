package import TransferCore
package import TransferJobs

/// The network's gate, as the scheduler has to know it.
package struct NetworkGate: Sendable, Equatable {
    /// Rules (``/TransferJobs/Lane/network``) that are outside their schedule: nothing starts under them, wherever it goes.
    package var shut: Set<String> = []
    /// Rules that no link which leads out may be used by: only what is in `direct` starts.
    package var closed: Set<String> = []
    /// Rules under which there is no way out at all: likewise.
    package var offline: Set<String> = []
    /// Hosts that are reached without a way out: on a network of this machine's own.
    package var direct: Set<HostUnderRules> = []
    /// Hosts that may be reached so, which is being found out: nothing starts, and nothing is said of a wait yet.
    package var undecided: Set<HostUnderRules> = []
    /// Origins that the network which is there doesn't lead to.
    package var unreachable: Set<Lane> = []

    /// Rules that keep something from starting.
    package var held: Set<String> { shut.union(closed).union(offline) }

    package func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool {
        guard !shut.contains(lane.network) else { return false }
        guard let host = reach.host else { return true }
        guard !unreachable.contains(lane) else { return false }
        guard closed.contains(lane.network) || offline.contains(lane.network) else { return true }
        return direct.contains(HostUnderRules(host: host, network: lane.network))
    }

    /// Whether it's said that jobs of the lane wait.
    package func isHeld(_ lane: Lane, _ reach: OriginReach) -> Bool {
        guard !isOpen(lane, reach) else { return false }
        guard let host = reach.host, !shut.contains(lane.network) else { return true }
        return !undecided.contains(HostUnderRules(host: host, network: lane.network))
    }
}

/// A machine that jobs under the same rules of the network are connected to.
package struct HostUnderRules: Sendable, Hashable {
    package let host: String
    /// ``/TransferJobs/Lane/network``
    package let network: String

    package init(host: String, network: String) {
        self.host = host
        self.network = network
    }
}

/// The first machine that a job is connected to: its proxy, else the host of its URL.
package enum OriginReach: Sendable, Hashable {
    /// This machine itself: always there, whatever becomes of the network.
    case local
    case address(IPAddress, host: String)
    case name(String)

    package init(origin: String) { self.init(host: Origin(anyURL: origin)?.host ?? "") }

    /// - Parameter proxies: The job's; without one the origin itself is connected to.
    package init(origin: String, proxies: ProxyRule) {
        guard !proxies.isEmpty, let target = Origin(anyURL: origin), let way = proxies.way(to: target) else {
            self.init(origin: origin)
            return
        }
        self.init(host: ProxyAddress(way).host)
    }

    package init(host: String) {
        if let address = IPAddress(host) {
            self = address.isLoopback ? .local : .address(address, host: host)
        } else {
            // RFC 6761 §6.3
            self = host == "localhost" || host.hasSuffix(".localhost") ? .local : .name(host)
        }
    }

    /// `nil` for this machine.
    package var host: String? {
        switch self {
        case .local: nil
        case .address(_, let host), .name(let host): host
        }
    }
}
