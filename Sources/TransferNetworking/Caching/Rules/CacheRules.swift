import TransferCore

/// The decisions of a private cache about requests and responses (RFC 9111): pure, no I/O.
enum CacheRules {
    enum Decision: Sendable {
        /// The server is asked, as if there were no cache.
        case forward
        /// The stored response answers without the server; its age is in seconds.
        case answer(StoredResponse, age: Int64)
        /// The server is asked to confirm the response where it has a validator. The stored response may replace an
        /// error.
        case validate(StoredResponse, mayReplaceError: Bool)
        /// Nothing suitable is stored, and the network must not be used.
        case refuse(Refusal)
    }

    enum Refusal: Sendable {
        /// `only-if-cached` was asked for: a 504 (§5.2.1.7).
        case gatewayTimeout
        /// `returnCacheDataDontLoad` was asked for.
        case unavailable
    }

    /// - Parameter stored: The stored responses of the request's URL.
    static func decide(_ request: CacheRequest, stored: [StoredResponse], now: Double) -> Decision {
        let miss: Decision =
            request.policy == .storedOnly
            ? .refuse(.unavailable) : request.control["only-if-cached"] ? .refuse(.gatewayTimeout) : .forward
        guard !request.isConditional, request.policy != .reload, let selected = select(request, stored) else {
            return miss
        }
        let mayReplaceError = selected.mayReplaceError(request, at: now)
        switch request.policy {
        case .storedElseLoad, .storedOnly: return .answer(selected, age: selected.age(at: now))
        case .rules where selected.mayAnswer(request, at: now):
            return .answer(selected, age: selected.age(at: now))
        default:
            if case .refuse = miss { return miss }
            return .validate(selected, mayReplaceError: mayReplaceError)
        }
    }

    /// Returns the newest of the stored responses that fit (§4.1).
    private static func select(_ request: CacheRequest, _ stored: [StoredResponse]) -> StoredResponse? {
        stored.filter { $0.fits(request) }.reduce(nil) { best, next in
            guard let best else { return next }
            return next.isNewer(than: best) ? next : best
        }
    }

    // MARK: Storing (§3)

    /// Whether a response may be stored. The caller has to know that its body is complete (§3.3).
    static func mayStore(_ response: StoredResponse, of request: CacheRequest) -> Bool {
        let control = response.control
        guard !request.isHead, mayStore(status: response.status, control, response.fields) else { return false }
        // §5.2.2.3: next to must-understand, no-store is for caches that do not know the former. The status is checked
        // above.
        guard !control["no-store"] || control["must-understand"], !request.control["no-store"] else { return false }
        let selecting = response.fields.tokens("Vary")
        guard !selecting.contains("*") else { return false }
        // Cookies are added later, separately for each hop of a redirect, so that their values are unknown here.
        if selecting.contains("cookie"), request.fields.value("Cookie") == nil { return false }
        if control["max-age"] || control["public"] || control["private"] { return true }
        return response.fields.value("Expires") != nil || StoredResponse.heuristicStatuses.contains(response.status)
    }

    private static func mayStore(status: Int, _ control: CacheControl, _ fields: [HeaderField]) -> Bool {
        if control["must-understand"], !understood.contains(status) { return false }
        switch status {
        // Partial responses are not combined, and a 304 has no body of its own.
        case ..<200, 206, 304: return false
        // The response depends on credentials that come in a second request.
        case 401, 407: return false
        // The response depends on the request's own conditions.
        case 412, 416: return false
        // Redirects are not stored, as each request has its own rules for following them.
        case 300..<400: return fields.value("Location") == nil
        default: return true
        }
    }

    /// The statuses whose caching this cache knows.
    private static let understood: Set<Int> = [200, 203, 204, 300, 301, 404, 405, 410, 414, 501]

    /// Whether the rules allow a later use: the response is fresh for a while, or can be confirmed.
    static func isReusable(_ response: StoredResponse) -> Bool {
        !response.conditions.isEmpty || response.freshnessLifetime > 0
            || response.control.seconds("stale-if-error") != nil
    }

    // MARK: Validating (§4.3)

    /// Whether a stale response may replace a response with this status (RFC 5861 §4).
    static func isServerError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    enum Freshening: Sendable { case keep, freshen, drop }

    /// Decides about the stored response by the head that a HEAD request brought (§4.3.5).
    static func freshening(of stored: StoredResponse, byHead status: Int, _ fields: [HeaderField]) -> Freshening {
        guard status == 200 else { return .keep }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            if let new = fields.value(name), let old = stored.fields.value(name), new != old { return .drop }
        }
        return fields.value("ETag") != nil && stored.fields.value("ETag") != nil ? .freshen : .keep
    }

    // MARK: Invalidating (§4.4)

    /// Whether a method changes nothing at the server (RFC 9110 §9.2.1).
    static func isSafe(_ method: String) -> Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    /// Returns the keys that a response to an unsafe request makes invalid.
    static func invalidated(url: String, method: String, status: Int, fields: [HeaderField]) -> [String] {
        guard !isSafe(method), (200..<400).contains(status), let key = CacheKey.of(url) else { return [] }
        let named = ["Location", "Content-Location"].flatMap { fields.values($0) }
        return [key] + named.compactMap { CacheKey.sameOrigin($0, as: url) }
    }
}
