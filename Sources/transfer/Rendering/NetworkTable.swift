import TransferCore
import TransferQueue
import TransferReachability

/// The output of `transfer network`.
enum NetworkTable {
    /// Returns the table.
    ///
    /// - Parameters:
    ///   - offer: The congestion control; `nil` where the kernel does not report it.
    ///   - width: The columns of the terminal; `nil` for output of any width.
    static func lines(
        _ snapshot: NetworkSnapshot, charset: Charset, congestion offer: CongestionOffer? = nil, width: Int? = nil
    ) -> [String] {
        guard snapshot.isKnown else {
            return ["the kernel cannot be asked here (no route netlink): a queue tries everything"]
        }
        var table = TextTable(
            ("LINK", .left), ("KIND", .left), ("STATE", .left), ("IPV4", .right), ("IPV6", .right), ("METERED", .left),
            ("MTU", .right))
        let links = ordered(snapshot)
        for link in links {
            table.add([
                charset.visible(link.name), link.kind.rawValue, state(of: link),
                metric(.v4, of: link, snapshot), metric(.v6, of: link, snapshot), metered(link, snapshot),
                "\(link.mtu)",
            ])
        }
        var lines = table.lines(width: width)
        let indent = (links.map { DisplayWidth.of(charset.visible($0.name)) }.max() ?? 0) + 2
        let details = links.flatMap { link -> [String] in
            var words = link.addresses.map { "\($0.address)/\($0.prefix)\(remark($0))" }
            if let beneath = snapshot.underlying(of: link.index), beneath.index != link.index {
                words.append("over \(charset.visible(beneath.name))")
            }
            if link.metering == .guessedYes { words.append("metered by its kind") }
            return words.isEmpty ? [] : wrapped(charset.visible(link.name), words, indent: indent, width ?? 80)
        }
        if !details.isEmpty { lines += [""] + details }
        lines.append("")
        lines += TextWrap.labelled("default route: " + wayOut(snapshot, charset), width: width, indent: 15)
        if let offer {
            lines += TextWrap.labelled("sends by: " + charset.visible(sending(offer)), width: width, indent: 10)
        }
        if snapshot.connectivity != .unknown, snapshot.connectivity != .full {
            lines.append("NetworkManager says: \(connectivity(snapshot.connectivity))")
        }
        return lines
    }

    /// Returns a text such as `cubic; bbr where a link loses packets`.
    static func sending(_ offer: CongestionOffer) -> String {
        let lossy = CongestionControl.forLosses
        guard offer.standard != lossy else { return lossy }
        // A process with CAP_NET_ADMIN may choose algorithms that others may not; its own right only shows when it
        // tries.
        if offer.allowed.contains(lossy) { return "\(offer.standard); \(lossy) where a link loses packets" }
        let why =
            offer.available.contains(lossy)
            ? "needs CAP_NET_ADMIN: it is not in net.ipv4.tcp_allowed_congestion_control"
            : "is not in net.ipv4.tcp_available_congestion_control: modprobe tcp_bbr"
        return "\(offer.standard); \(lossy), for links that lose packets, \(why)"
    }

    /// Returns the links in the kernel's order of preference; loopback links come last.
    private static func ordered(_ snapshot: NetworkSnapshot) -> [NetworkSnapshot.Link] {
        let ways = snapshot.waysOut
        let others = snapshot.links.filter { link in !ways.contains { $0.index == link.index } }
        return ways + others.filter { !$0.isLoopback } + others.filter(\.isLoopback)
    }

    static func state(of link: NetworkSnapshot.Link) -> String {
        if !link.isUp { return "down" }
        if !link.hasCarrier { return "no carrier" }
        if !link.isRunning { return link.operation.rawValue }
        return link.isLoopback || IPVersion.allCases.contains { link.canCarry($0) } ? "up" : "no address"
    }

    private static func metric(
        _ version: IPVersion, of link: NetworkSnapshot.Link, _ snapshot: NetworkSnapshot
    ) -> String {
        let routes = snapshot.defaultRoutes.filter {
            $0.link == link.index && $0.version == version && $0.rulePriority != nil
        }
        return routes.map(\.metric).min().map { "\($0)" } ?? "-"
    }

    private static func metered(_ link: NetworkSnapshot.Link, _ snapshot: NetworkSnapshot) -> String {
        switch snapshot.metering(of: link.index) {
        case .unknown: "-"
        case .yes: "yes"
        case .no: "no"
        case .guessedYes: "yes"
        case .guessedNo: "no"
        }
    }

    private static func remark(_ address: NetworkSnapshot.Address) -> String {
        if address.flags.contains(.duplicate) { return " (duplicate)" }
        if address.flags.contains(.tentative) { return " (tentative)" }
        return address.flags.contains(.deprecated) ? " (deprecated)" : ""
    }

    /// Wraps words behind a name into as many lines as necessary.
    private static func wrapped(_ name: String, _ words: [String], indent: Int, _ width: Int) -> [String] {
        var lines: [String] = []
        var line = name.padded(indent)
        var isEmpty = true
        for (index, word) in words.enumerated() {
            let word = index < words.count - 1 ? word + "," : word
            if !isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(word) > width {
                lines.append(line)
                line = "".padded(indent)
                isEmpty = true
            }
            line += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// Returns a text such as `IPv4 by eth0 (192.0.2.1), IPv6 by eth0`.
    static func wayOut(_ snapshot: NetworkSnapshot, _ charset: Charset) -> String {
        let ways = IPVersion.allCases.compactMap { version -> String? in
            guard let route = snapshot.defaultRoute(version), let link = snapshot.link(route.link) else { return nil }
            let gateway = route.gateway.map { " (\($0))" } ?? ""
            return "\(version.rawValue) by \(charset.visible(link.name))\(gateway)"
        }
        return ways.isEmpty ? "none; only this machine and its neighbours can be reached" : ways.joined(separator: ", ")
    }

    static func connectivity(_ connectivity: Connectivity) -> String {
        switch connectivity {
        case .unknown: "not known"
        case .none: "no connectivity"
        case .portal: "a captive portal answers"
        case .limited: "no connection to the Internet"
        case .full: "full connectivity"
        }
    }

    /// Returns one object.
    ///
    /// The members are `time`, `known`, `status` (`unknown`, `notReachable`, `ethernetOrWiFi`, `cellular`),
    /// `connectivity`, `waysOut` (names, the preferred first), `links`, `defaultRoutes`, and `congestion` (`standard`,
    /// `available`, `allowed`).
    static func json(
        _ snapshot: NetworkSnapshot, time: Int64, congestion offer: CongestionOffer? = nil
    ) -> String {
        JSONObject.text { object in
            object.field("time", time: time)
            object.field("known", snapshot.isKnown)
            object.field("status", status(snapshot))
            object.field("connectivity", snapshot.connectivity.rawValue)
            object.strings("waysOut", snapshot.waysOut.map(\.name))
            object.objects("links", snapshot.links) { self.link(&$0, $1, snapshot) }
            object.objects("defaultRoutes", snapshot.defaultRoutes) { object, route in
                object.field("version", route.version.rawValue)
                object.optional("link", snapshot.link(route.link)?.name)
                object.optional("gateway", route.gateway.map { "\($0)" })
                object.field("metric", Int64(route.metric))
                object.field("table", Int64(route.table))
                object.field("isUsed", route.rulePriority != nil)
            }
            if let offer {
                object.object("congestion") { object in
                    object.field("standard", offer.standard)
                    object.strings("available", offer.available)
                    object.strings("allowed", offer.allowed)
                }
            }
        }
    }

    private static func status(_ snapshot: NetworkSnapshot) -> String {
        switch snapshot.status {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .reachable(.ethernetOrWiFi): "ethernetOrWiFi"
        case .reachable(.cellular): "cellular"
        }
    }

    private static func link(_ object: inout JSONObject, _ link: NetworkSnapshot.Link, _ snapshot: NetworkSnapshot) {
        object.field("index", link.index)
        object.field("name", link.name)
        object.field("kind", link.kind.rawValue)
        if let beneath = snapshot.underlying(of: link.index), beneath.index != link.index {
            object.field("over", beneath.name)
        }
        object.field("up", link.isUp)
        object.field("carrier", link.hasCarrier)
        object.field("state", link.operation.rawValue)
        object.field("mtu", link.mtu)
        object.field("metered", snapshot.metering(of: link.index).rawValue)
        object.objects("addresses", link.addresses) { object, address in
            object.field("address", "\(address.address)")
            object.field("prefix", address.prefix)
            object.field("scope", address.scope.rawValue)
            object.field("usable", address.isUsable)
        }
    }
}
