import FoundationEssentials

/// The properties of a link that only sysfs shows, and not netlink.
struct LinkFacts: Sendable, Hashable {
    /// Whether the link has Wi-Fi's `wireless` or `phy80211`.
    var isWireless = false
    /// The `DEVTYPE` in the link's `uevent`: `wlan`, `wwan`, `bridge`…
    var deviceType: String?

    init(isWireless: Bool = false, deviceType: String? = nil) {
        self.isWireless = isWireless
        self.deviceType = deviceType
    }

    /// Reads the properties of a link.
    ///
    /// - Parameters:
    ///   - root: The mount point of sysfs, `/sys`.
    ///   - index: The link's index. A `/sys` mounted in another network namespace shows the links of that namespace,
    ///     possibly with the same names; a different index reveals that.
    /// - Returns: `nil` where sysfs does not show the link.
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
