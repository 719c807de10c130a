import TransferCore

/// NetworkManager's data about links, by their names.
struct ManagedNetwork: Sendable, Hashable {
    var connectivity = Connectivity.unknown
    var metering: [String: Metering] = [:]
}

extension NetworkState {
    /// Returns the state as a snapshot.
    func snapshot(rule: MeteredRule, managed: ManagedNetwork) -> NetworkSnapshot {
        let addresses = Dictionary(grouping: self.addresses, by: \.link)
        let links = self.links.values.sorted { $0.index < $1.index }.map { message in
            var link = self.link(message)
            link.metering = Self.metering(of: link, rule: rule, managed: managed)
            // The addresses are sorted by their bytes, since the table has no order.
            link.addresses = (addresses[message.index] ?? [])
                .sorted { ($0.version.family, $0.prefix) < ($1.version.family, $1.prefix) || $0.comesBefore($1) }
                .map(NetworkSnapshot.Address.init)
            return link
        }
        return NetworkSnapshot(
            links: links, defaultRoutes: defaultRoutes, rules: routingRules, connectivity: managed.connectivity)
    }

    private func link(_ message: LinkMessage) -> NetworkSnapshot.Link {
        let kind = LinkKind(
            kind: message.kind, hardware: message.hardware, facts: facts(of: message.index), name: message.name)
        return NetworkSnapshot.Link(
            index: message.index, name: message.name, kind: kind, isUp: message.flags & Self.up != 0,
            hasCarrier: message.flags & Self.lowerUp != 0,
            operation: NetworkSnapshot.OperationalState(number: message.operation), mtu: message.mtu ?? 0,
            lowerLink: message.isLowerElsewhere || message.lower == message.index ? nil : message.lower,
            master: message.master)
    }

    /// Returns the metering of a link. The user's statement precedes NetworkManager's, and that precedes the kind's.
    private static func metering(
        of link: NetworkSnapshot.Link, rule: MeteredRule, managed: ManagedNetwork
    ) -> Metering {
        let said = rule.metering(of: link.name)
        if said != .unknown { return said }
        let known = managed.metering[link.name] ?? .unknown
        if known != .unknown { return known }
        return link.kind == .cellular ? .guessedYes : .unknown
    }

    private var routingRules: [NetworkSnapshot.RoutingRule] {
        rules.filter { $0.table != 0 }
            .map {
                NetworkSnapshot.RoutingRule(
                    version: $0.version, priority: $0.priority, table: $0.table,
                    interface: $0.outgoing.isEmpty ? nil : $0.outgoing, leadsOut: $0.leadsOut)
            }
            .sorted {
                ($0.version.family, $0.priority, $0.table, $0.interface ?? "", $0.leadsOut ? 0 : 1)
                    < ($1.version.family, $1.priority, $1.table, $1.interface ?? "", $1.leadsOut ? 0 : 1)
            }
    }

    private var defaultRoutes: [NetworkSnapshot.DefaultRoute] {
        var priorities: [IPVersion: [UInt32: UInt32]] = [:]
        for version in IPVersion.allCases {
            let known = rules.filter { $0.version == version }
            // A kernel without policy routing uses `main` and `default` (ip-rule(8)).
            guard !known.isEmpty else {
                priorities[version] = [254: 32766, 253: 32767]
                continue
            }
            for rule in known where rule.leadsOut {
                let first = priorities[version]?[rule.table] ?? .max
                priorities[version, default: [:]][rule.table] = min(first, rule.priority)
            }
        }
        var seen: Set<NetworkSnapshot.DefaultRoute> = []
        let found = routes.flatMap { route in
            route.hops.map { hop in
                NetworkSnapshot.DefaultRoute(
                    version: route.version, link: hop.link, gateway: hop.gateway, metric: route.metric,
                    table: route.table, rulePriority: priorities[route.version]?[route.table])
            }
        }
        return found.filter { seen.insert($0).inserted }
            .sorted { $0.rank == $1.rank ? $0.comesBefore($1) : $0.rank < $1.rank }
    }
}

extension NetworkSnapshot.DefaultRoute {
    /// The rank by which the kernel prefers routes.
    fileprivate var rank: (UInt8, UInt32, UInt32, UInt32, Int) {
        (version.family, rulePriority ?? .max, table, metric, link)
    }

    /// Compares gateways, which only makes the order deterministic.
    fileprivate func comesBefore(_ other: Self) -> Bool {
        (gateway?.bytes ?? []).lexicographicallyPrecedes(other.gateway?.bytes ?? [])
    }
}

extension AddressMessage {
    fileprivate func comesBefore(_ other: AddressMessage) -> Bool {
        (version.family, prefix) == (other.version.family, other.prefix)
            && address.bytes.lexicographicallyPrecedes(other.address.bytes)
    }
}

extension NetworkSnapshot.Address {
    fileprivate init(_ message: AddressMessage) {
        let scopes: [UInt8: Scope] = [0: .global, 200: .site, 253: .link, 254: .host]
        // The flags are IFA_F_… of rtnetlink(7). An optimistic address (RFC 4429) may be used although it is tentative.
        var flags: Flags = []
        if message.flags & 0x40 != 0, message.flags & 0x04 == 0 { flags.insert(.tentative) }
        if message.flags & 0x20 != 0 { flags.insert(.deprecated) }
        if message.flags & 0x08 != 0 { flags.insert(.duplicate) }
        if message.flags & 0x01 != 0, message.version == .v6 { flags.insert(.temporary) }
        self.init(message.address, prefix: message.prefix, scope: scopes[message.scope] ?? .other, flags: flags)
    }
}

extension NetworkSnapshot.OperationalState {
    /// Creates the state from a number `IF_OPER_…` of linux/if.h.
    init(number: UInt8) {
        let states: [Self] = [.unknown, .notPresent, .down, .lowerLayerDown, .testing, .dormant, .up]
        self = Int(number) < states.count ? states[Int(number)] : .unknown
    }
}
