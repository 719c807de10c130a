import TransferEventLoop

/// The cookies of one journey: of the requests that belong together, as those of one attempt of a job, their redirects
/// included. In memory only; they end with it.
///
/// Servers that redirect to a sign-on and back open their files by a cookie of an answer on the way. Each hop gets those
/// that RFC 6265 gives to its URL, and no two journeys share any.
public final class JourneyCookies: CookieJar {
    private let memory = CookieMemory()

    public init() {}

    public var isEmpty: Bool { memory.isEmpty }

    public func field(for url: String) -> String? {
        guard !memory.isEmpty, let origin = CookieOrigin(url) else { return nil }
        return StoredCookie.field(memory.cookies(for: origin, now: WallClock.now))
    }

    public func received(_ fields: [String], from url: String) {
        guard let origin = CookieOrigin(url) else { return }
        memory.receive(fields, from: origin, now: WallClock.now)
    }
}
