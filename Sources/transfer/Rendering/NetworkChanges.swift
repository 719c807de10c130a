import TransferReachability

/// The changes from one state of the network to the next, a line each; for `transfer network --follow`.
enum NetworkChanges {
    static func lines(from old: NetworkSnapshot, to new: NetworkSnapshot) -> [String] {
        var lines: [String] = []
        for link in old.links where new.link(link.index) == nil { lines.append("\(link.name) is gone") }
        for link in new.links {
            guard let before = old.link(link.index) else {
                lines.append("\(link.name) is new: \(link.kind.rawValue), \(NetworkTable.state(of: link))")
                continue
            }
            lines += changes(of: link, before)
        }
        for version in IPVersion.allCases {
            let (before, now) = (way(old, version), way(new, version))
            guard before != now else { continue }
            lines.append(now ?? "no default route (\(version.rawValue))")
        }
        if old.connectivity != new.connectivity {
            lines.append("NetworkManager says: \(NetworkTable.connectivity(new.connectivity))")
        }
        // The differences are in other tables, rules, or routes that are not preferred.
        return lines.isEmpty && old != new ? ["other routes changed"] : lines
    }

    private static func changes(of link: NetworkSnapshot.Link, _ before: NetworkSnapshot.Link) -> [String] {
        var lines: [String] = []
        if link.name != before.name { lines.append("\(before.name) is called \(link.name) now") }
        if link.isUp != before.isUp {
            lines.append(link.isUp ? "\(link.name) came up" : "\(link.name) went down")
        } else if link.hasCarrier != before.hasCarrier {
            lines.append(link.hasCarrier ? "\(link.name) has a carrier" : "\(link.name) lost its carrier")
        } else if link.isRunning != before.isRunning {
            lines.append("\(link.name) is \(link.operation.rawValue)")
        }
        let gone = before.addresses.filter { old in !link.addresses.contains { $0.address == old.address } }
        lines += gone.map { "\(link.name) lost \($0.address)/\($0.prefix)" }
        for address in link.addresses {
            let known = before.addresses.first { $0.address == address.address }
            if known == nil {
                lines.append(
                    "\(link.name) has \(address.address)/\(address.prefix)\(address.isUsable ? "" : ", not usable yet")"
                )
            } else if known?.isUsable != address.isUsable {
                lines.append("\(link.name) \(address.isUsable ? "can" : "cannot") use \(address.address)")
            }
        }
        if link.mtu != before.mtu { lines.append("\(link.name) has an MTU of \(link.mtu)") }
        if link.metering.isMetered != before.metering.isMetered {
            lines.append("\(link.name) is \(link.metering.isMetered ? "metered" : "not metered")")
        }
        return lines
    }

    /// Returns a text such as `default route by wwan0 (IPv4, 192.0.2.1, metric 100)`.
    private static func way(_ snapshot: NetworkSnapshot, _ version: IPVersion) -> String? {
        guard let route = snapshot.defaultRoute(version), let link = snapshot.link(route.link) else { return nil }
        let gateway = route.gateway.map { ", \($0)" } ?? ""
        let metric = route.metric > 0 ? ", metric \(route.metric)" : ""
        return "default route by \(link.name) (\(version.rawValue)\(gateway)\(metric))"
    }
}
