/// What the kernel says about the machine's links and default routes at one moment.
public struct NetworkSnapshot: Sendable, Hashable {
    public struct Link: Sendable, Hashable {
        public var index: Int
        public var name: String
        /// Administratively up (`IFF_UP`, netdevice(7)).
        public var isUp: Bool
        /// Has its carrier (`IFF_RUNNING`).
        public var isRunning: Bool
        public var isLoopback: Bool

        public init(index: Int, name: String, isUp: Bool, isRunning: Bool, isLoopback: Bool) {
            self.index = index
            self.name = name
            self.isUp = isUp
            self.isRunning = isRunning
            self.isLoopback = isLoopback
        }

        /// By the names that drivers and ModemManager give.
        public var isCellular: Bool { name.hasPrefix("wwan") || name.hasPrefix("wwp") || name.hasPrefix("rmnet") }
    }

    public var links: [Link]
    /// Indexes of links that a default route, of either version of IP, goes over.
    public var defaultRouteLinks: Set<Int>

    public init(links: [Link] = [], defaultRouteLinks: Set<Int> = []) {
        self.links = links
        self.defaultRouteLinks = defaultRouteLinks
    }

    /// A link without a default route leads to its neighbours only: it doesn't count.
    public var status: NetworkReachabilityManager.NetworkReachabilityStatus {
        let usable = links.filter { $0.isUp && $0.isRunning && !$0.isLoopback && defaultRouteLinks.contains($0.index) }
        guard !usable.isEmpty else { return .notReachable }
        return .reachable(usable.allSatisfy(\.isCellular) ? .cellular : .ethernetOrWiFi)
    }
}
