/// The bytes of a download by the servers that sent them. Its progress reports one number, or one for each server.
struct SourceShares: Sendable {
    /// The bytes that each server had sent of the job by the last report, by the server's label.
    private var reported: [String: Int64] = [:]
    /// The bytes that were counted for the attempt's own server before there were numbers for each server.
    private var unassigned: Int64 = 0

    /// Notes that another attempt begins.
    mutating func begin() { unassigned = 0 }

    /// Notes bytes of an unreported source.
    ///
    /// - Returns: Whether they are counted now. If servers are reported one by one, their own numbers include these
    ///   bytes.
    mutating func moved(_ bytes: Int64) -> Bool {
        guard reported.isEmpty else { return false }
        unassigned += bytes
        return true
    }

    /// Notes the bytes of each server.
    ///
    /// - Parameters:
    ///   - sources: The bytes that each URL sent since the job began; several URLs may belong to one server.
    ///   - own: The label of the attempt's own server.
    /// - Returns: The bytes to count for each server now.
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
