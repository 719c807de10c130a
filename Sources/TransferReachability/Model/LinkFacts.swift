import FoundationEssentials

/// Facts of a link that sysfs shows and netlink doesn't.
struct LinkFacts: Sendable, Hashable {
    /// Has Wi-Fi's `wireless` or `phy80211`.
    var isWireless = false
    /// `DEVTYPE` of its `uevent`: `wlan`, `wwan`, `bridge`…
    var deviceType: String?

    init(isWireless: Bool = false, deviceType: String? = nil) {
        self.isWireless = isWireless
        self.deviceType = deviceType
    }

    /// - Parameters:
    ///   - root: `/sys`.
    ///   - index: Of the link. A `/sys` that was mounted in another network namespace shows that one's links, which may
    ///     bear the same names: another index gives them away.
    /// - Returns: `nil` when it isn't shown.
    static func read(root: String, name: String, index: Int) -> LinkFacts? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { return nil }
        let folder = "\(root)/class/net/\(name)"
        let files = FileManager.default
        guard files.fileExists(atPath: folder) else { return nil }
        let text = try? String(contentsOfFile: "\(folder)/ifindex", encoding: .utf8)
        if let other = text.flatMap({ Int($0.prefix { $0.isNumber }) }), other != index { return nil }
        var facts = LinkFacts()
        facts.isWireless = ["wireless", "phy80211"].contains { files.fileExists(atPath: "\(folder)/\($0)") }
        let lines = (try? String(contentsOfFile: "\(folder)/uevent", encoding: .utf8))?.split(separator: "\n") ?? []
        facts.deviceType = lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst(8)) }
        return facts
    }
}
