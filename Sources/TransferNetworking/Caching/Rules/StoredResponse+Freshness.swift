import TransferCore

// The freshness and the age of a stored response (RFC 9111 §4.2).
extension StoredResponse {
    /// The upper limit of a heuristic lifetime: a day, in seconds.
    static let longestHeuristic: Int64 = 86_400

    /// The statuses that heuristics may make reusable (RFC 9110 §15.1); 206 is never stored here.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The response's date in seconds since 1970: the moment of arrival where the server has no clock (RFC 9110
    /// §6.6.1).
    private var date: Double {
        fields.value("Date").flatMap { HTTPDate.parse($0, now: Int64(responseTime)) }.map { Double($0) } ?? responseTime
    }

    /// Whether this response has the later Date; the newest of several that fit is used (§4.1).
    func isNewer(than other: StoredResponse) -> Bool {
        (date, responseTime) > (other.date, other.responseTime)
    }

    /// The seconds for which the response is fresh, counted from its creation (§4.2.1). `s-maxage` is for shared caches
    /// and ignored.
    var freshnessLifetime: Int64 {
        let control = control
        if let seconds = control.seconds("max-age") { return seconds }
        let expiries = fields.values("Expires")
        if let first = expiries.first {
            // §5.3: an invalid date, such as the common "0", counts as the past. Contradicting lines promise nothing.
            guard expiries.allSatisfy({ $0 == first }), let moment = HTTPDate.parse(first, now: Int64(responseTime))
            else { return 0 }
            return Self.clamped(Double(moment) - date)
        }
        return heuristicLifetime(control)
    }

    /// A tenth of the time for which the representation had been unchanged (§4.2.2).
    private func heuristicLifetime(_ control: CacheControl) -> Int64 {
        guard Self.heuristicStatuses.contains(status) || control["public"],
            let modified = fields.value("Last-Modified").flatMap({ HTTPDate.parse($0, now: Int64(responseTime)) })
        else { return 0 }
        return min(Self.clamped((date - Double(modified)) / 10), Self.longestHeuristic)
    }

    /// Returns the seconds since the origin created or confirmed the response (§4.2.3).
    func age(at now: Double) -> Int64 {
        let apparent = max(0, responseTime - date)
        // §5.1: the first of several values counts, and an invalid number is ignored.
        let value = fields.value("Age")?.split(separator: ",").first.flatMap {
            CacheControl.seconds($0.filter { $0 != " " })
        }
        let corrected = Double(value ?? 0) + max(0, responseTime - requestTime)
        return Self.clamped(max(apparent, corrected) + max(0, now - responseTime))
    }

    private static func clamped(_ seconds: Double) -> Int64 {
        Int64(min(max(seconds, 0), Double(CacheControl.largest)))
    }

    // MARK: Whether it may be used

    /// Whether the response answers the request without asking the server (§4, §5.2.1).
    func mayAnswer(_ request: CacheRequest, at now: Double) -> Bool {
        let control = control
        // `no-cache="field"` counts for the whole response, as §5.2.2.4 permits.
        guard !control["no-cache"], !request.control["no-cache"] else { return false }
        let (age, lifetime) = (age(at: now), freshnessLifetime)
        if let limit = request.control.seconds("max-age"), age > limit { return false }
        if let reserve = request.control.seconds("min-fresh"), lifetime - age < reserve { return false }
        if lifetime > age { return true }
        guard request.control["max-stale"], !control["must-revalidate"] else { return false }
        if request.control.isBare("max-stale") { return true }
        return age - lifetime <= request.control.seconds("max-stale") ?? 0
    }

    /// Whether the response may replace an error response (RFC 5861 §4).
    func mayReplaceError(_ request: CacheRequest, at now: Double) -> Bool {
        let control = control
        guard !control["must-revalidate"], !control["no-cache"] else { return false }
        let limits = [control, request.control].compactMap { $0.seconds("stale-if-error") }
        guard let limit = limits.max() else { return false }
        return age(at: now) - freshnessLifetime <= limit
    }
}
