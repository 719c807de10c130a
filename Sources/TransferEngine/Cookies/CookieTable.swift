/// The cookies of a store by their domain, so that a request examines only a few of them.
package struct CookieTable {
    private var domains: [String: [StoredCookie]] = [:]
    package private(set) var count = 0
    private var lastCreation = 0.0

    package init() {}

    package static let domainLimit = 180
    package static let limit = 3000

    /// Returns the cookies that have not expired, the oldest first.
    package func all(now: Double) -> [StoredCookie] {
        domains.values.joined().filter { !$0.isExpired(at: now) }.sorted { $0.created < $1.created }
    }

    /// Returns the cookies that a request gets, in their order. The call counts as a use of them.
    package mutating func matching(_ origin: CookieOrigin, now: Double) -> [StoredCookie] {
        var found: [StoredCookie] = []
        for domain in origin.domains.lazy.map({ String($0) }) {
            guard let cookies = domains[domain] else { continue }
            for (index, cookie) in cookies.enumerated() where cookie.belongs(to: origin) {
                guard !cookie.isExpired(at: now) else { continue }
                domains[domain]?[index].used = now
                found.append(cookie)
            }
        }
        return StoredCookie.ordered(found)
    }

    /// Returns whether a secure cookie protects its name against a cookie that came over plain HTTP.
    package func isBarred(_ cookie: StoredCookie, now: Double) -> Bool {
        guard !cookie.isSecure else { return false }
        return domains.values.contains { cookies in
            cookies.contains { cookie.isBarred(by: $0) && !$0.isExpired(at: now) }
        }
    }

    /// Inserts a cookie, or replaces the one with its name, domain and path. An expired cookie only removes its
    /// predecessor.
    package mutating func insert(_ cookie: StoredCookie, now: Double) {
        var cookie = cookie
        if let index = domains[cookie.domain]?.firstIndex(where: { $0.key == cookie.key }) {
            guard !cookie.isExpired(at: now) else { return remove(cookie.key, domain: cookie.domain) }
            cookie.created = domains[cookie.domain]?[index].created ?? cookie.created
            domains[cookie.domain]?[index] = cookie
            return
        }
        guard !cookie.isExpired(at: now) else { return }
        // Two cookies of the same moment keep their order.
        cookie.created = max(cookie.created, lastCreation + 1e-6)
        lastCreation = cookie.created
        domains[cookie.domain, default: []].append(cookie)
        count += 1
        if domains[cookie.domain, default: []].count > Self.domainLimit { shrink(cookie.domain, now: now) }
        if count > Self.limit { shrinkAll(now: now) }
    }

    package mutating func remove(_ key: StoredCookie.Key, domain: String) {
        guard let index = domains[domain]?.firstIndex(where: { $0.key == key }) else { return }
        domains[domain]?.remove(at: index)
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
        count -= 1
    }

    package mutating func removeAll(where isUnwanted: (StoredCookie) -> Bool) {
        domains = domains.mapValues { $0.filter { !isUnwanted($0) } }.filter { !$0.value.isEmpty }
        count = domains.values.reduce(0) { $0 + $1.count }
    }

    private mutating func shrink(_ domain: String, now: Double) {
        let cookies = domains[domain] ?? []
        let alive = cookies.filter { !$0.isExpired(at: now) }
        guard alive.count == cookies.count else {
            count += alive.count - cookies.count
            domains[domain] = alive
            return
        }
        let last = cookies.min { $0.isSecure == $1.isSecure ? $0.used < $1.used : !$0.isSecure }
        if let last { remove(last.key, domain: domain) }
    }

    private mutating func shrinkAll(now: Double) {
        let before = count
        removeAll { $0.isExpired(at: now) }
        guard count == before else { return }
        let last = domains.values.joined().min { $0.used < $1.used }
        if let last { remove(last.key, domain: last.domain) }
    }
}
