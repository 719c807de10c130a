import TransferCore

/// A cookie as it is stored (RFC 6265 §5.3).
package struct StoredCookie: Sendable, Equatable, Codable {
    /// The identity of a cookie: two cookies with the same key are one.
    package struct Key: Hashable {
        package let name: String
        package let domain: String
        package let path: String
        package let isHostOnly: Bool
    }

    package var name: String
    package var value: String
    /// The domain in lower case, without a leading dot.
    package var domain: String
    package var path: String
    /// Whether the cookie is sent only to the host that set it, and to none below it.
    package var isHostOnly: Bool
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite: SameSite?
    /// The expiry in seconds since 1970; `nil` for as long as the store lives.
    package var expires: Int64?
    /// The time of creation in seconds since 1970. A cookie that is set again keeps it.
    package var created: Double
    /// The time when the cookie was last sent, or set, in seconds since 1970.
    package var used: Double

    package init(
        name: String, value: String, domain: String, path: String, isHostOnly: Bool, isSecure: Bool, isHTTPOnly: Bool,
        expires: Int64?, created: Double
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.isHostOnly = isHostOnly
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.expires = expires
        self.created = created
        used = created
    }

    package var key: Key { Key(name: name, domain: domain, path: path, isHostOnly: isHostOnly) }

    package func isExpired(at now: Double) -> Bool { expires.map { Double($0) <= now } ?? false }

    /// Returns whether a request gets the cookie (RFC 6265 §5.4).
    package func belongs(to origin: CookieOrigin) -> Bool {
        (isHostOnly ? origin.host == domain : origin.matches(domain: domain))
            && origin.path.pathMatches(path) && (!isSecure || origin.isSecure)
    }
}

extension StoredCookie {
    /// Creates the cookie that a server may set with this field (RFC 6265bis §5.7).
    ///
    /// - Returns: `nil` for a cookie that the server must not set.
    package init?(_ field: SetCookieField, from origin: CookieOrigin, now: Double) {
        var domain = field.domain ?? ""
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if !domain.isEmpty, !origin.isAddress, PublicSuffix.contains(domain) {
            // The cookie would reach every stranger below the suffix. The host of that name may have one for itself.
            guard domain == origin.host else { return nil }
            domain = ""
        }
        if !domain.isEmpty {
            guard origin.matches(domain: domain) else { return nil }
        }
        // An address has no subdomains.
        isHostOnly = domain.isEmpty || origin.isAddress
        self.domain = isHostOnly ? origin.host : domain
        path = field.path.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? origin.defaultPath
        name = field.name
        value = field.value
        isSecure = field.isSecure
        isHTTPOnly = field.isHTTPOnly
        sameSite = field.sameSite
        created = now
        used = now
        if let age = field.maxAge {
            expires = age <= 0 ? .min : Int64(now) + min(age, Self.lifeLimit)
        } else if let date = field.expires {
            expires = min(date, Int64(now) + Self.lifeLimit)
        }
        guard !isSecure || origin.isSecure, sameSite != SameSite.none || isSecure else { return nil }
        let lower = name.lowercased()
        if lower.hasPrefix("__secure-"), !isSecure { return nil }
        if lower.hasPrefix("__host-"), !isSecure || field.domain?.isEmpty == false || field.path != "/" { return nil }
    }

    /// Returns whether this cookie, which came over plain HTTP, must not replace or hide the secure cookie `other` (RFC
    /// 6265bis §5.7, "leave secure cookies alone").
    package func isBarred(by other: StoredCookie) -> Bool {
        guard other.isSecure, !isSecure, other.name == name, path.pathMatches(other.path) else { return false }
        return Self.isWithin(domain, other.domain) || Self.isWithin(other.domain, domain)
    }

    private static func isWithin(_ domain: String, _ above: String) -> Bool {
        domain == above || domain.hasSuffix("." + above)
    }

    /// The longest lifetime: 400 days (RFC 6265bis §5.5).
    package static let lifeLimit: Int64 = 400 * 86_400

    /// Returns the value of the Cookie field: the longest path first, of equal ones the oldest (RFC 6265 §5.4).
    package static func field(_ cookies: [StoredCookie]) -> String? {
        guard !cookies.isEmpty else { return nil }
        return ordered(cookies).map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    package static func ordered(_ cookies: [StoredCookie]) -> [StoredCookie] {
        cookies.sorted {
            let (first, second) = ($0.path.utf8.count, $1.path.utf8.count)
            return first == second ? $0.created < $1.created : first > second
        }
    }
}
