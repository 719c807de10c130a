extension NetworkSnapshot {
    /// Returns the link that finally carries the traffic of a link. Beneath a VLAN it is the parent, and beneath a
    /// bridge or bond the first running port. Beneath a tunnel it is the link to which the tunnel is bound, or the link
    /// of the default route.
    ///
    /// - Returns: The link itself where nothing is beneath it; `nil` where there is no such link.
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
        // The other end of a pair does not carry the link.
        case .virtualEthernet: return nil
        default: return link.lowerLink.flatMap { self.link($0) }
        }
    }

    /// Returns the kind of the link that finally carries a link, as policies use it: a tunnel over a modem is cellular.
    /// A tunnel without a known carrier stays a tunnel, and the end of a pair (veth(4)) counts as its container's
    /// Ethernet.
    public func kind(of index: Int) -> LinkKind {
        guard let kind = underlying(of: index)?.kind else { return .other }
        return kind == .virtualEthernet ? .ethernet : kind
    }

    /// Returns whether the traffic of a link is metered, as stated for the link itself, or else for the link that
    /// carries it.
    public func metering(of index: Int) -> Metering {
        guard let link = link(index) else { return .unknown }
        if link.metering == .yes || link.metering == .no { return link.metering }
        guard let beneath = underlying(of: index), beneath.metering != .unknown else { return link.metering }
        return beneath.metering
    }
}
