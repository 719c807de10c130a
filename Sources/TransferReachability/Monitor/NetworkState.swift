import CTransferNetlink
import TransferCore

/// The kernel's tables from its messages, to the extent that they concern default routes: a plain value.
struct NetworkState: Sendable, Hashable {
    /// The effect of a message.
    struct Outcome: Sendable, Hashable {
        var changed = false
        /// The topics that must be requested again, because the kernel does not report their changes individually.
        var doubts: Set<NetlinkTopic> = []
    }

    private struct AddressKey: Hashable {
        var link: Int
        var address: IPAddress
        var prefix: Int
    }

    private(set) var links: [Int: LinkMessage] = [:]
    private var addressTable: [AddressKey: AddressMessage] = [:]
    /// The default routes alone, by the key of which the kernel keeps one.
    private var routeTable: [RouteMessage.Place: [RouteMessage]] = [:]
    private(set) var rules: Set<RuleMessage> = []
    /// The properties from sysfs; a link without an entry has not been read under its current name.
    private var facts: [Int: LinkFacts?] = [:]

    var addresses: some Collection<AddressMessage> { addressTable.values }

    var routes: some Sequence<RouteMessage> { routeTable.values.joined() }

    mutating func apply(_ frame: NetlinkFrame) -> Outcome {
        switch frame.message {
        case .link(let link, .new): update(link)
        case .link(let link, .deleted): remove(link)
        case .address(let address, .new): Outcome(changed: add(address))
        case .address(let address, .deleted): remove(address)
        case .route(let route, .new): route.isDefault ? add(route, frame) : Outcome()
        case .route(let route, .deleted): route.isDefault ? remove(route) : Outcome()
        case .rule(let rule, .new): Outcome(changed: rules.insert(rule).inserted)
        case .rule(let rule, .deleted):
            rules.remove(rule) != nil
                ? Outcome(changed: true) : Outcome(doubts: [rule.version == .v4 ? .rules4 : .rules6])
        case .nexthop: Outcome(doubts: [.routes4, .routes6])
        case .overrun: Outcome(doubts: Set(NetlinkTopic.allCases))
        case .done, .error, .other: Outcome()
        }
    }

    /// Replaces the known data of a topic by a dump.
    mutating func replace(_ topic: NetlinkTopic, with frames: [NetlinkFrame]) -> Bool {
        let before = self
        switch topic {
        case .links: (links, facts) = ([:], [:])
        case .addresses4: addressTable = addressTable.filter { $0.value.version != .v4 }
        case .addresses6: addressTable = addressTable.filter { $0.value.version != .v6 }
        case .routes4: routeTable = routeTable.filter { $0.key.version != .v4 }
        case .routes6: routeTable = routeTable.filter { $0.key.version != .v6 }
        case .rules4: rules = rules.filter { $0.version != .v4 }
        case .rules6: rules = rules.filter { $0.version != .v6 }
        }
        for frame in frames where topic.contains(frame.message) { _ = apply(frame) }
        if topic == .links {
            facts = before.facts.filter { before.links[$0.key]?.name == links[$0.key]?.name }
        }
        return self != before
    }

    // MARK: Properties from sysfs

    var linksWithoutFacts: [(index: Int, name: String)] {
        links.values.filter { facts[$0.index] == nil }.map { ($0.index, $0.name) }
    }

    mutating func setFacts(_ found: LinkFacts?, of link: Int) { facts[link] = .some(found) }

    func facts(of link: Int) -> LinkFacts? { facts[link] ?? nil }

    // MARK: Links

    private mutating func update(_ link: LinkMessage) -> Outcome {
        let old = links[link.index]
        var link = link
        if link.mtu == nil, var known = old {
            known.flags = link.flags
            link = known
        }
        guard link != old else { return Outcome() }
        links[link.index] = link
        if link.name != old?.name { facts[link.index] = nil }
        var outcome = Outcome(changed: true)
        // When a link goes down, the kernel drops its IPv4 routes without a message, and possibly those of IPv6.
        if let old, old.flags & Self.up != 0, link.flags & Self.up == 0 {
            forgetRoutes(over: link.index)
            outcome.doubts = [.routes4, .routes6]
        }
        return outcome
    }

    private mutating func remove(_ link: LinkMessage) -> Outcome {
        guard links.removeValue(forKey: link.index) != nil else { return Outcome() }
        facts[link.index] = nil
        addressTable = addressTable.filter { $0.key.link != link.index }
        forgetRoutes(over: link.index)
        return Outcome(changed: true, doubts: [.routes4, .routes6])
    }

    private mutating func forgetRoutes(over link: Int) {
        for (place, routes) in routeTable where routes.contains(where: { $0.hops.contains { $0.link == link } }) {
            let left = routes.compactMap { route -> RouteMessage? in
                var route = route
                route.hops.removeAll { $0.link == link }
                return route.hops.isEmpty ? nil : route
            }
            routeTable[place] = left.isEmpty ? nil : left
        }
    }

    /// The flags `IFF_UP` and `IFF_LOWER_UP` (netdevice(7)).
    static let up: UInt32 = 1
    static let lowerUp: UInt32 = 1 << 16

    // MARK: Addresses

    private mutating func add(_ address: AddressMessage) -> Bool {
        let key = AddressKey(link: address.link, address: address.address, prefix: address.prefix)
        return addressTable.updateValue(address, forKey: key) != address
    }

    private mutating func remove(_ address: AddressMessage) -> Outcome {
        let key = AddressKey(link: address.link, address: address.address, prefix: address.prefix)
        guard addressTable.removeValue(forKey: key) != nil else { return Outcome() }
        // Routes with the IPv4 address as their source disappear with it, without a message.
        return Outcome(changed: true, doubts: address.version == .v4 ? [.routes4] : [])
    }

    // MARK: Routes

    private mutating func add(_ route: RouteMessage, _ frame: NetlinkFrame) -> Outcome {
        var routes = routeTable[route.place] ?? []
        let before = routes
        if frame.isReplacing { routes = [] }
        if !routes.contains(route) { routes.append(route) }
        routeTable[route.place] = routes
        var outcome = Outcome(changed: routes != before)
        // The kernel reports an IPv6 route with several next hops in parts or as a whole, depending on its creation.
        if !frame.isPart, route.version == .v6, frame.isAppending || route.hops.count > 1 {
            outcome.doubts = [.routes6]
        }
        return outcome
    }

    private mutating func remove(_ route: RouteMessage) -> Outcome {
        guard var routes = routeTable[route.place] else { return Outcome() }
        guard let index = routes.firstIndex(of: route) else {
            // The route differs from the reported one: its source was removed before, or it is a part of one with
            // several next hops.
            return Outcome(doubts: [.routes(route.version)])
        }
        routes.remove(at: index)
        routeTable[route.place] = routes.isEmpty ? nil : routes
        return Outcome(changed: true)
    }
}
