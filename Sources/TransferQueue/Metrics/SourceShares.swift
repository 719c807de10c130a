/// The bytes of a download by the servers that sent them, of which its progress tells one number, or one for each server.
struct SourceShares: Sendable {
    /// What each server had sent of the job when it was told last, by its label.
    private var reported: [String: Int64] = [:]
    /// What was counted for the attempt's own server before the servers were told one by one.
    private var unassigned: Int64 = 0

    /// Another attempt begins.
    mutating func begin() { unassigned = 0 }

    /// Bytes came, of which it isn't told from where.
    ///
    /// - Returns: Whether they are to be counted now: those of servers that are told one by one come with them.
    mutating func moved(_ bytes: Int64) -> Bool {
        guard reported.isEmpty else { return false }
        unassigned += bytes
        return true
    }

    /// The servers were told one by one.
    ///
    /// - Parameters:
    ///   - sources: What each URL sent since the job began; several may be of one server.
    ///   - own: The label of the attempt's own server.
    /// - Returns: What is to be counted for each server now.
    mutating func sent(
        _ sources: [(host: String, bytes: Int64)], own: String
    ) -> [(host: String, count: Int64)] {
        let all = Dictionary(sources.map { ($0.host, $0.bytes) }, uniquingKeysWith: +)
        return all.keys.sorted().map { host in
            var new = max(0, (all[host] ?? 0) - (reported[host] ?? 0))
            reported[host] = max(reported[host] ?? 0, all[host] ?? 0)
            if host == own {
                let known = min(new, unassigned)
                unassigned -= known
                new -= known
            }
            return (host, new)
        }
    }
}
