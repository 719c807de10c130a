/// What keeps cookies for a session.
protocol CookieKeeping: AnyObject, Sendable {
    /// Whether there is none; looked at for each request.
    var isEmpty: Bool { get }

    /// Those that a request gets, in the order in which they are sent.
    func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie]

    /// Takes what a server sets; an expired one takes its predecessor away (RFC 6265 §5.3).
    func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double)
}
