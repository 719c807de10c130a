/// The URL of the file in which an upload grows, beside its destination.
enum PartURL {
    /// The longest name in bytes: a longer one leaves no room for the additions where a name may have 255 bytes.
    private static let longestName = 200

    /// Returns the URL of a part.
    ///
    /// - Parameters:
    ///   - mark: The text that distinguishes this upload's part from all others.
    ///   - generation: The number of new beginnings. Each has another name, as a lost connection may still carry bytes
    ///     for the old one.
    /// - Returns: `nil` where the URL names a folder, or only a server.
    static func url(of destination: String, mark: String, generation: Int) -> String? {
        let place = destination.prefix { $0 != "#" }
        guard let slash = place.lastIndex(of: "/"), !place[..<slash].hasSuffix(":/") else { return nil }
        let start = place.index(after: slash)
        let name = place[start...]
        guard !name.isEmpty else { return nil }
        let shown = name.utf8.count <= longestName ? "\(name)." : ""
        let number = generation > 0 ? "-\(generation)" : ""
        return "\(place[..<start]).\(shown)\(mark)\(number).part"
    }

    /// Returns the URL without its user and password: connections to file servers use the credentials of the settings.
    static func withoutUser(_ url: String) -> String {
        guard let slash = url.firstIndex(of: "/"), url[..<slash].hasSuffix(":") else { return url }
        let start = url.index(slash, offsetBy: 2, limitedBy: url.endIndex) ?? url.endIndex
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: at)...])
    }
}
