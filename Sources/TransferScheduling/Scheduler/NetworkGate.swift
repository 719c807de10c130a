package import TransferCore
package import TransferJobs

/// The network's gate, as the scheduler has to know it.
package struct NetworkGate: Sendable, Equatable {
    /// The rules (``/TransferJobs/Lane/network``) that are outside their schedule: no job starts under them, to any
    /// host.
    package var shut: Set<String> = []
    /// The rules that allow no link with a default route: only jobs to hosts in `direct` start.
    package var closed: Set<String> = []
    /// The rules under which no link has a default route: only jobs to hosts in `direct` start.
    package var offline: Set<String> = []
    /// The hosts that are reached without a default route, on a local network.
    package var direct: Set<HostUnderRules> = []
    /// The hosts that may be reached that way and are being looked up: their jobs neither start nor are reported as
    /// waiting.
    package var undecided: Set<HostUnderRules> = []
    /// The lanes whose origins the present network does not reach.
    package var unreachable: Set<Lane> = []

    /// The rules that keep jobs from starting.
    package var held: Set<String> { shut.union(closed).union(offline) }

    package func isOpen(_ lane: Lane, _ reach: OriginReach) -> Bool {
        guard !shut.contains(lane.network) else { return false }
        guard let host = reach.host else { return true }
        guard !unreachable.contains(lane) else { return false }
        guard closed.contains(lane.network) || offline.contains(lane.network) else { return true }
        return direct.contains(HostUnderRules(host: host, network: lane.network))
    }

    /// Returns whether jobs of the lane are reported as waiting.
    package func isHeld(_ lane: Lane, _ reach: OriginReach) -> Bool {
        guard !isOpen(lane, reach) else { return false }
        guard let host = reach.host, !shut.contains(lane.network) else { return true }
        return !undecided.contains(HostUnderRules(host: host, network: lane.network))
    }
}

/// A host that jobs under the same network rules contact.
package struct HostUnderRules: Sendable, Hashable {
    package let host: String
    /// The value of ``/TransferJobs/Lane/network``.
    package let network: String

    package init(host: String, network: String) {
        self.host = host
        self.network = network
    }
}

/// The first host that a job contacts: its proxy, else the host of its URL.
package enum OriginReach: Sendable, Hashable {
    /// The host is this machine itself, which is always reachable.
    case local
    case address(IPAddress, host: String)
    case name(String)

    package init(origin: String) { self.init(host: Origin(anyURL: origin)?.host ?? "") }

    /// Creates the reach of a job.
    ///
    /// - Parameter proxies: The job's proxies; without one, the origin itself is contacted.
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
            // Both names are local by RFC 6761 §6.3.
            self = host == "localhost" || host.hasSuffix(".localhost") ? .local : .name(host)
        }
    }

    /// The name or address of the host; `nil` for this machine.
    package var host: String? {
        switch self {
        case .local: nil
        case .address(_, let host), .name(let host): host
        }
    }
}
