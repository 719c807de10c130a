/// The URL of the file that an upload grows in, beside the one that it becomes.
enum PartURL {
    /// Longer names leave no room for what is put around them where a name may have 255 bytes.
    private static let longestName = 200

    /// - Parameters:
    ///   - mark: Tells this upload's part from every other one's.
    ///   - generation: How often it was begun anew. Each time under another name: a connection that was cut may still
    ///     have bytes on their way into the old one.
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

    /// The URL without its user and password, which a connection to a file server doesn't take from there.
    static func withoutUser(_ url: String) -> String {
        guard let slash = url.firstIndex(of: "/"), url[..<slash].hasSuffix(":") else { return url }
        let start = url.index(slash, offsetBy: 2, limitedBy: url.endIndex) ?? url.endIndex
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: at)...])
    }
}
