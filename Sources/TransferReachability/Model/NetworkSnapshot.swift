public import TransferCore

/// The machine's links, addresses and ways out at one moment, as the kernel tells them.
///
/// Two snapshots are equal when nothing that is in them has changed, so that counters and lifetimes make no new one.
public struct NetworkSnapshot: Sendable, Hashable {
    /// Whether the kernel could be asked. Where it couldn't (a sandbox), everything else is empty and says nothing.
    public var isKnown: Bool
    /// By their indexes.
    public var links: [Link]
    /// Every default route of every routing table; of each version of IP the first is what the kernel prefers.
    public var defaultRoutes: [DefaultRoute]
    /// By their priorities.
    public var rules: [RoutingRule]
    /// As NetworkManager's probe found it, where there is one.
    public var connectivity: Connectivity

    public init(
        isKnown: Bool = true, links: [Link] = [], defaultRoutes: [DefaultRoute] = [], rules: [RoutingRule] = [],
        connectivity: Connectivity = .unknown
    ) {
        self.isKnown = isKnown
        self.links = links
        self.defaultRoutes = defaultRoutes
        self.rules = rules
        self.connectivity = connectivity
    }

    /// The snapshot where the kernel couldn't be asked.
    public static let unknown = NetworkSnapshot(isKnown: false)

    /// A default route.
    public struct DefaultRoute: Sendable, Hashable {
        public var version: IPVersion
        /// The index of the link that it goes over.
        public var link: Int
        /// `nil` when everything beyond is reached over the link itself, as with tunnels.
        public var gateway: IPAddress?
        /// The smaller is preferred.
        public var metric: UInt32
        /// The routing table; 254 is `main`.
        public var table: UInt32
        /// The priority of the first rule that leads ordinary packets to its table; `nil` when none does, and the route
        /// is no way out by itself.
        public var rulePriority: UInt32?

        public init(
            version: IPVersion, link: Int, gateway: IPAddress? = nil, metric: UInt32 = 0, table: UInt32 = 254,
            rulePriority: UInt32? = 32766
        ) {
            self.version = version
            self.link = link
            self.gateway = gateway
            self.metric = metric
            self.table = table
            self.rulePriority = rulePriority
        }
    }

    /// A rule of the routing policy that sends packets to a table (ip-rule(8)).
    public struct RoutingRule: Sendable, Hashable {
        public var version: IPVersion
        public var priority: UInt32
        public var table: UInt32
        /// For packets over that interface only.
        public var interface: String?
        /// Whether a default route of the table is a way for what this machine sends.
        public var leadsOut: Bool

        public init(
            version: IPVersion, priority: UInt32, table: UInt32, interface: String? = nil, leadsOut: Bool = true
        ) {
            self.version = version
            self.priority = priority
            self.table = table
            self.interface = interface
            self.leadsOut = leadsOut
        }
    }
}

extension NetworkSnapshot {
    public func link(_ index: Int) -> Link? { links.first { $0.index == index } }

    public func link(named name: String) -> Link? { links.first { $0.name == name } }

    /// The link that has an address, for example a connection's own (`CURLINFO_LOCAL_IP`).
    public func link(with address: IPAddress) -> Link? {
        links.first { $0.addresses.contains { $0.address == address } }
    }

    /// Indexes of links that a default route goes over, of either version of IP and in any table.
    public var defaultRouteLinks: Set<Int> { Set(defaultRoutes.map(\.link)) }

    /// The default route that ordinary packets take, if its link is a way out.
    public func defaultRoute(_ version: IPVersion) -> DefaultRoute? {
        defaultRoutes.first { $0.version == version && isWayOut($0) }
    }

    /// Whether a link is a way out, by a version of IP: it's up, has its carrier, has an address that can be used, and a
    /// default route goes over it, in a table that a rule leads to.
    public func isWayOut(_ link: Int, _ version: IPVersion) -> Bool {
        defaultRoutes.contains { $0.link == link && $0.version == version && isWayOut($0) }
    }

    private func isWayOut(_ route: DefaultRoute) -> Bool {
        guard route.rulePriority != nil, let link = link(route.link) else { return false }
        return link.kind != .loopback && link.canCarry(route.version)
    }

    /// The links that are ways out, the preferred first.
    public var waysOut: [Link] {
        var seen: Set<Int> = []
        let routes = defaultRoutes.filter { isWayOut($0) }
        return routes.compactMap { seen.insert($0.link).inserted ? link($0.link) : nil }
    }

    /// Whether there is a way out, as the request API has it: cellular when every one is.
    public var status: NetworkReachabilityManager.NetworkReachabilityStatus {
        guard isKnown else { return .unknown }
        let ways = waysOut
        guard !ways.isEmpty else { return .notReachable }
        return .reachable(ways.allSatisfy { kind(of: $0.index) == .cellular } ? .cellular : .ethernetOrWiFi)
    }
}
