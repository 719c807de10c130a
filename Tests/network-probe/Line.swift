import Glibc
import TransferCore
import TransferReachability

/// Lines for the tests: words of `key=value`.
enum Line {
    /// Writes a whole line at once, also with concurrent writers.
    static func write(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = Glibc.write(1, bytes, bytes.count)
    }

    static func text(_ status: NetworkReachabilityManager.NetworkReachabilityStatus) -> String {
        switch status {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .reachable(.ethernetOrWiFi): "ethernetOrWiFi"
        case .reachable(.cellular): "cellular"
        }
    }

    static func text(_ snapshot: NetworkSnapshot, number: Int, at time: Int64) -> String {
        var words = [
            "snapshot=\(number)", "at=\(time)", "known=\(snapshot.isKnown)", "status=\(text(snapshot.status))",
            "connectivity=\(snapshot.connectivity.rawValue)",
        ]
        for version in IPVersion.allCases {
            let route = snapshot.defaultRoute(version)
            let name = route.flatMap { snapshot.link($0.link) }?.name ?? "-"
            words.append("\(version.rawValue)=\(name)/\(route?.gateway?.description ?? "-")/\(route?.metric ?? 0)")
        }
        words.append("routes=\(snapshot.defaultRoutes.count)")
        for link in snapshot.links {
            let facts = [
                "\(link.index)", link.kind.rawValue, snapshot.kind(of: link.index).rawValue, link.isUp ? "up" : "down",
                link.hasCarrier ? "carrier" : "none", link.operation.rawValue, "\(link.mtu)",
                snapshot.metering(of: link.index).rawValue,
                link.addresses.filter(\.isUsable).map { "\($0.address)/\($0.prefix)" }.joined(separator: "+"),
            ]
            words.append("link.\(link.name)=\(facts.joined(separator: ","))")
        }
        return words.joined(separator: " ")
    }
}
