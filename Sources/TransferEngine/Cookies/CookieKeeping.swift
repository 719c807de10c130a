/// A store of cookies: for a session, a program, or the requests of one attempt of a job.
package protocol CookieKeeping: AnyObject, Sendable {
    /// Whether there is no cookie. Each request reads the property.
    var isEmpty: Bool { get }

    /// Returns the cookies that a request gets, in the order in which they are sent.
    func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie]

    /// Stores the cookie that a server sets. An expired cookie removes its predecessor (RFC 6265 §5.3).
    func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double)
}

extension CookieKeeping {
    /// Stores the cookies that the Set-Cookie fields of an answer are allowed to set.
    package func receive(_ fields: [String], from origin: CookieOrigin, now: Double) {
        for text in fields {
            guard let field = SetCookieField(text), let cookie = StoredCookie(field, from: origin, now: now) else {
                continue
            }
            take(cookie, overPlainHTTP: !origin.isSecure, now: now)
        }
    }
}
