import Synchronization
public import TransferCore
import TransferEventLoop

/// The cookies of requests that belong together, such as one attempt of a job with its redirects.
///
/// The cookies are in memory only and end with the requests. Servers that redirect to a sign-on and back open their
/// files by a cookie of an answer on the way. Each hop gets the cookies that RFC 6265 gives to its URL. No two attempts
/// share cookies.
public final class JourneyCookies: CookieJar {
    private let memory = CookieMemory()
    private let hasBegun = Atomic(false)

    /// Creates an empty store.
    public init() {}

    /// Takes the cookies of a file in Netscape's format, except the expired ones.
    ///
    /// Only the first call has an effect: a server may have changed the cookies since.
    ///
    /// - Parameter file: A closure that reads the file.
    /// - Throws: The error of `file`. Lines that are not cookies are no error.
    public func begin(with file: () throws(TransferError) -> String) throws(TransferError) {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        let now = WallClock.now
        for cookie in CookieFile.cookies(try file(), now: now) where !cookie.isExpired(at: now) {
            memory.take(cookie, overPlainHTTP: false, now: now)
        }
    }

    /// Whether there is certainly no cookie to send.
    public var isEmpty: Bool { memory.isEmpty }

    /// The cookies that have not expired, as a file in Netscape's format.
    package var file: String { CookieFile.text(memory.all(now: WallClock.now)) }

    /// Returns the value of the Cookie field for this URL, or `nil` if there is no cookie for it.
    public func field(for url: String) -> String? {
        guard !memory.isEmpty, let origin = CookieOrigin(url) else { return nil }
        return StoredCookie.field(memory.cookies(for: origin, now: WallClock.now))
    }

    /// Stores the cookies that the Set-Cookie fields of an answer from this URL are allowed to set.
    public func received(_ fields: [String], from url: String) {
        guard let origin = CookieOrigin(url) else { return }
        memory.receive(fields, from: origin, now: WallClock.now)
    }
}
