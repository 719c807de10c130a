package import TransferReachability

extension QueueNetwork {
    /// Returns what happened to links that have lost their default route: `eth0 lost carrier`.
    package static func losses(_ old: NetworkSnapshot, _ new: NetworkSnapshot) -> [String] {
        let left = Set(new.waysOut.map(\.index))
        return old.waysOut.filter { !left.contains($0.index) }.map { before in
            guard let link = new.link(before.index) else { return "\(before.name) is gone" }
            if !link.isUp { return "\(link.name) went down" }
            if !link.hasCarrier { return "\(link.name) lost carrier" }
            if !link.isRunning { return "\(link.name) is \(link.operation.rawValue)" }
            let carries = IPVersion.allCases.contains { link.canCarry($0) }
            return carries ? "\(link.name) lost its route" : "\(link.name) lost its address"
        }
    }
}
