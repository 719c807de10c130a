/// A keeper of cookies: for a session, a program, or one journey of a job.
package protocol CookieKeeping: AnyObject, Sendable {
    /// Whether there is none; looked at for each request.
    var isEmpty: Bool { get }

    /// The cookies that a request gets, in the order in which they are sent.
    func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie]

    /// Takes what a server sets; an expired one takes its predecessor away (RFC 6265 §5.3).
    func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double)
}

extension CookieKeeping {
    /// Takes what these Set-Cookie fields of an answer may set.
    package func receive(_ fields: [String], from origin: CookieOrigin, now: Double) {
        for text in fields {
            guard let field = SetCookieField(text), let cookie = StoredCookie(field, from: origin, now: now) else {
                continue
            }
            take(cookie, overPlainHTTP: !origin.isSecure, now: now)
        }
    }
}
