public import TransferCore

/// The machine's links, addresses and default routes at one moment, as the kernel reports them.
///
/// Two snapshots are equal where nothing in them has changed; counters and lifetimes are not included.
public struct NetworkSnapshot: Sendable, Hashable {
    /// Whether the kernel could be asked. Otherwise (in a sandbox), everything else is empty and has no meaning.
    public var isKnown: Bool
    /// The links, ordered by their indices.
    public var links: [Link]
    /// All default routes of all routing tables; for each version of IP, the first is the one that the kernel prefers.
    public var defaultRoutes: [DefaultRoute]
    /// The rules, ordered by their priorities.
    public var rules: [RoutingRule]
    /// The result of NetworkManager's probe, where there is one.
    public var connectivity: Connectivity

    /// Creates a snapshot.
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

    /// The snapshot where the kernel could not be asked.
    public static let unknown = NetworkSnapshot(isKnown: false)

    /// A default route.
    public struct DefaultRoute: Sendable, Hashable {
        /// The version of IP.
        public var version: IPVersion
        /// The index of the route's link.
        public var link: Int
        /// The gateway; `nil` where all destinations are reached over the link itself, as with tunnels.
        public var gateway: IPAddress?
        /// The metric; the kernel prefers smaller values.
        public var metric: UInt32
        /// The routing table; 254 is `main`.
        public var table: UInt32
        /// The priority of the first rule that leads ordinary packets to the table. It is `nil` where there is none, so
        /// that the route alone leads nowhere.
        public var rulePriority: UInt32?

        /// Creates a route.
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

    /// A rule of the routing policy that directs packets to a table (ip-rule(8)).
    public struct RoutingRule: Sendable, Hashable {
        /// The version of IP.
        public var version: IPVersion
        /// The priority; rules with smaller values are applied first.
        public var priority: UInt32
        /// The routing table.
        public var table: UInt32
        /// The only interface to whose packets the rule applies; `nil` for all.
        public var interface: String?
        /// Whether a default route of the table applies to this machine's own packets.
        public var leadsOut: Bool

        /// Creates a rule.
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
    /// Returns the link with an index; `nil` where there is none.
    public func link(_ index: Int) -> Link? { links.first { $0.index == index } }

    /// Returns the link with a name; `nil` where there is none.
    public func link(named name: String) -> Link? { links.first { $0.name == name } }

    /// Returns the link that has an address, such as a connection's own (`CURLINFO_LOCAL_IP`).
    public func link(with address: IPAddress) -> Link? {
        links.first { $0.addresses.contains { $0.address == address } }
    }

    /// The indices of the links with a default route, of either version of IP and in any table.
    public var defaultRouteLinks: Set<Int> { Set(defaultRoutes.map(\.link)) }

    /// Returns the default route of ordinary packets, if its link is usable.
    public func defaultRoute(_ version: IPVersion) -> DefaultRoute? {
        defaultRoutes.first { $0.version == version && isWayOut($0) }
    }

    /// Returns whether a link leads out for a version of IP. It must be up, with its carrier and a usable address. It
    /// also needs a default route in a table to which a rule leads.
    public func isWayOut(_ link: Int, _ version: IPVersion) -> Bool {
        defaultRoutes.contains { $0.link == link && $0.version == version && isWayOut($0) }
    }

    private func isWayOut(_ route: DefaultRoute) -> Bool {
        guard route.rulePriority != nil, let link = link(route.link) else { return false }
        return link.kind != .loopback && link.canCarry(route.version)
    }

    /// The links that lead out, in the kernel's order of preference.
    public var waysOut: [Link] {
        var seen: Set<Int> = []
        let routes = defaultRoutes.filter { isWayOut($0) }
        return routes.compactMap { seen.insert($0.link).inserted ? link($0.link) : nil }
    }

    /// The status for the request API: cellular where all usable links are.
    public var status: NetworkReachabilityManager.NetworkReachabilityStatus {
        guard isKnown else { return .unknown }
        let ways = waysOut
        guard !ways.isEmpty else { return .notReachable }
        return .reachable(ways.allSatisfy { kind(of: $0.index) == .cellular } ? .cellular : .ethernetOrWiFi)
    }
}
