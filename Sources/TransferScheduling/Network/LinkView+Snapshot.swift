package import TransferJobs
package import TransferReachability

extension LinkView {
    /// Returns the links of this machine that rules can name: those with a default route first, in the kernel's order
    /// of preference. Ports of bridges and bonds are left out, because they are not used by name.
    package static func views(_ snapshot: NetworkSnapshot, _ health: LinkHealth = LinkHealth()) -> [LinkView] {
        let ways = snapshot.waysOut
        let others = snapshot.links.filter { link in
            link.kind != .loopback && link.master == nil && !ways.contains { $0.index == link.index }
        }
        return (ways + others).map { link in
            var view = LinkView(name: link.name, kind: LinkClass(link.kind))
            view.isUsable = ways.contains { $0.index == link.index }
            if !view.isUsable { view.whyNot = whyNot(link, snapshot) }
            if let beneath = snapshot.underlying(of: link.index), beneath.index != link.index {
                view.carriers = [Carrier(name: beneath.name, kind: LinkClass(beneath.kind))]
            }
            view.isMetered = snapshot.metering(of: link.index).isMetered
            view.suspicion = health.suspicion(of: link.name)
            return view
        }
    }

    private static func whyNot(_ link: NetworkSnapshot.Link, _ snapshot: NetworkSnapshot) -> String {
        if !link.isUp { return "down" }
        if !link.hasCarrier { return "no carrier" }
        if !link.isRunning { return "\(link.operation.rawValue)" }
        if !link.canCarry(.v4), !link.canCarry(.v6) { return "no address" }
        return "no route"
    }
}

extension LinkClass {
    package init(_ kind: LinkKind) { self = LinkClass(rawValue: kind.rawValue) ?? .other }
}
