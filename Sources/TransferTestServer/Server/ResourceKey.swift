/// The names of resources: `/x` for every host, `http://host/x` or `host/x` for one host.
enum ResourceKey {
    static func normalized(_ key: String) -> String {
        let rest = key.lowercased().hasPrefix("http://") ? key.dropFirst(7) : key[...]
        guard let slash = rest.firstIndex(of: "/") else { return hostName(rest) + "/" }
        return hostName(rest[..<slash]) + rest[slash...]
    }

    /// Returns the keys that a request matches, the most specific first; a key with a query matches only that query.
    static func candidates(_ head: RequestHead) -> [String] {
        let paths = head.query.map { ["\(head.path)?\($0)", head.path] } ?? [head.path]
        return paths.map { head.host + $0 } + paths
    }

    /// Returns whether a request matches a pattern, which may end in `*`.
    static func matches(_ pattern: String, _ head: RequestHead) -> Bool {
        let candidates = candidates(head)
        return pattern.hasSuffix("*")
            ? candidates.contains { $0.hasPrefix(pattern.dropLast()) } : candidates.contains(pattern)
    }

    static func hostName(_ authority: some StringProtocol) -> String {
        let name =
            authority.lastIndex(of: "@").map { String(authority[authority.index(after: $0)...]) } ?? String(authority)
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") { return name[...end].lowercased() }
        return name.prefix { $0 != ":" }.lowercased()
    }
}
