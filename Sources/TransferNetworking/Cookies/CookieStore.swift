public import Foundation
public import FoundationNetworking
package import TransferEngine
import TransferEventLoop

/// A store of cookies in memory, for one session or several. It can be used from any thread.
///
/// Only ``save(to:includingSessionCookies:)`` writes cookies to a disk. At most 180 cookies are kept for a domain and
/// 3000 in all. Beyond that the least recently used cookies are removed first, and insecure ones before secure ones
/// (RFC 6265bis §5.7).
public final class CookieStore: Sendable {
    private let memory = CookieMemory()

    /// Creates an empty store.
    public init() {}

    /// Reads the cookies of a file that ``save(to:includingSessionCookies:)`` wrote; cookies that have expired since
    /// are left out.
    ///
    /// - Throws: An error when the file cannot be read or has another format.
    public convenience init(contentsOf url: URL) throws {
        self.init()
        let saved = try JSONDecoder().decode([StoredCookie].self, from: Data(contentsOf: url))
        let now = WallClock.now
        change { table in
            for cookie in saved where !cookie.isExpired(at: now) { table.insert(cookie, now: now) }
        }
    }

    // MARK: For programs

    /// The cookies that have not expired, the oldest first.
    public var cookies: [HTTPCookie] {
        let now = WallClock.now
        return memory.all(now: now).compactMap(\.foundation)
    }

    /// Returns the cookies that a request for the URL would carry, in the order in which they are sent.
    public func cookies(for url: URL) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url.absoluteString) else { return [] }
        return cookies(for: origin, now: WallClock.now).compactMap(\.foundation)
    }

    /// Keeps a cookie of the program, which may name any domain; a cookie of the same name, domain and path is
    /// replaced. A domain without a leading dot means that host alone.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = WallClock.now
        guard let cookie = StoredCookie(cookie, created: now) else { return }
        change { $0.insert(cookie, now: now) }
    }

    /// Keeps the cookies of Set-Cookie fields in a response from the URL, to the extent that the URL may set them.
    public func receive(_ setCookieFields: [String], from url: URL) {
        guard let origin = CookieOrigin(url.absoluteString) else { return }
        receive(setCookieFields, from: origin, now: WallClock.now)
    }

    /// Removes the cookie of the same name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        guard let cookie = StoredCookie(cookie, created: 0) else { return }
        change { $0.remove(cookie.key, domain: cookie.domain) }
    }

    /// Removes cookies.
    ///
    /// - Parameter date: The earliest moment at which removed cookies were first set; `nil` removes all cookies.
    public func removeCookies(since date: Date? = nil) {
        let earliest = date?.timeIntervalSince1970 ?? -.infinity
        change { $0.removeAll { $0.created >= earliest } }
    }

    /// Removes the cookies without an expiry date, which are meant for one session.
    public func removeSessionCookies() {
        change { $0.removeAll { $0.expires == nil } }
    }

    /// Writes the cookies to a file that only its owner may read. The file is replaced in one step.
    ///
    /// - Parameter includingSessionCookies: Whether cookies without an expiry date are written, which browsers forget
    ///   when they close.
    /// - Throws: An error when the file cannot be written; an existing file is unchanged then.
    public func save(to url: URL, includingSessionCookies: Bool = false) throws {
        let now = WallClock.now
        let cookies = memory.all(now: now).filter { includingSessionCookies || $0.expires != nil }
        let data = try JSONEncoder().encode(cookies)
        let manager = FileManager.default
        let draft = url.deletingLastPathComponent().appendingPathComponent(
            ".\(url.lastPathComponent).\(UUID().uuidString)")
        guard manager.createFile(atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: draft.path])
        }
        do {
            try data.write(to: draft)
            guard rename(draft.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            try? manager.removeItem(at: draft)
            throw error
        }
    }

    private func change(_ body: (inout CookieTable) -> Void) { memory.change(body) }
}

extension CookieStore: CookieKeeping {
    package var isEmpty: Bool { memory.isEmpty }

    package func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie] {
        memory.cookies(for: origin, now: now)
    }

    package func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double) {
        memory.take(cookie, overPlainHTTP: isPlain, now: now)
    }
}
