extension NetworkSnapshot {
    /// The link that carries in the end what goes over a link: beneath a VLAN what it's on, beneath a bridge or bond its
    /// first running port, beneath a tunnel what it's bound to, or the way out when it isn't bound.
    ///
    /// - Returns: The link itself when nothing is beneath it; `nil` when there is no such link.
    public func underlying(of index: Int) -> Link? {
        guard var link = link(index) else { return nil }
        var seen: Set<Int> = [index]
        while let beneath = beneath(link), seen.insert(beneath.index).inserted { link = beneath }
        return link
    }

    private func beneath(_ link: Link) -> Link? {
        switch link.kind {
        case .bridge, .bond:
            let ports = links.filter { $0.master == link.index }
            let devices = ports.filter { $0.kind != .virtualEthernet && $0.kind != .tunnel }
            return devices.first(where: \.isRunning) ?? devices.first
        case .tunnel, .wireGuard:
            return link.lowerLink.flatMap { self.link($0) } ?? waysOut.first { !$0.kind.isTunnel && $0 != link }
        // A pair's other end is no link that carries it.
        case .virtualEthernet: return nil
        default: return link.lowerLink.flatMap { self.link($0) }
        }
    }

    /// The kind of what carries a link in the end, as policies see it: a tunnel over a modem is cellular. A tunnel that
    /// nothing is known to carry stays a tunnel; the end of a pair (veth(4)) is the Ethernet of the container it's in.
    public func kind(of index: Int) -> LinkKind {
        guard let kind = underlying(of: index)?.kind else { return .other }
        return kind == .virtualEthernet ? .ethernet : kind
    }

    /// Whether what goes over a link is paid for: as is said of the link itself, or else of what carries it.
    public func metering(of index: Int) -> Metering {
        guard let link = link(index) else { return .unknown }
        if link.metering == .yes || link.metering == .no { return link.metering }
        guard let beneath = underlying(of: index), beneath.metering != .unknown else { return link.metering }
        return beneath.metering
    }
}
