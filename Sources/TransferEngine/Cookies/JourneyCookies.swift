import Synchronization
public import TransferCore
import TransferEventLoop

/// The cookies of one journey: of the requests that belong together, as those of one attempt of a job, their redirects
/// included. In memory only; they end with it.
///
/// Servers that redirect to a sign-on and back open their files by a cookie of an answer on the way. Each hop gets those
/// that RFC 6265 gives to its URL, and no two journeys share any.
public final class JourneyCookies: CookieJar {
    private let memory = CookieMemory()
    private let hasBegun = Atomic(false)

    public init() {}

    /// Takes the cookies of a file in Netscape's form, those of it that are out of their time excepted. Once: a server may
    /// have changed them since.
    ///
    /// - Parameter file: Reads the file.
    public func begin(with file: () throws(TransferError) -> String) throws(TransferError) {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        let now = WallClock.now
        for cookie in CookieFile.cookies(try file(), now: now) where !cookie.isExpired(at: now) {
            memory.take(cookie, overPlainHTTP: false, now: now)
        }
    }

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
