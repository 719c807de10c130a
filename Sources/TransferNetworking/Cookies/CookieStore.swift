public import Foundation
public import FoundationNetworking
package import TransferEngine
import TransferEventLoop

/// Cookies in memory, for one session or several. Safe to be used from any thread.
///
/// Nothing is written anywhere, unless by ``save(to:includingSessionCookies:)``. At most 180 cookies are kept for a domain
/// and 3000 in all; beyond that those go first that weren't used for the longest time, and insecure ones before secure
/// ones (RFC 6265bis §5.7).
public final class CookieStore: Sendable {
    private let memory = CookieMemory()

    public init() {}

    /// The cookies of a file that ``save(to:includingSessionCookies:)`` wrote, but for those that have expired since.
    ///
    /// - Throws: When the file can't be read, or isn't one of these.
    public convenience init(contentsOf url: URL) throws {
        self.init()
        let saved = try JSONDecoder().decode([StoredCookie].self, from: Data(contentsOf: url))
        let now = WallClock.now
        change { table in
            for cookie in saved where !cookie.isExpired(at: now) { table.insert(cookie, now: now) }
        }
    }

    // MARK: For programs

    /// All that have not expired, the oldest first.
    public var cookies: [HTTPCookie] {
        let now = WallClock.now
        return memory.all(now: now).compactMap(\.foundation)
    }

    /// The cookies that a request for the URL would carry, in the order in which they are sent.
    public func cookies(for url: URL) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url.absoluteString) else { return [] }
        return cookies(for: origin, now: WallClock.now).compactMap(\.foundation)
    }

    /// Keeps a cookie of the program's own, which may name any domain; one of the same name, domain and path is replaced.
    /// A domain without a leading dot means that host alone.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = WallClock.now
        guard let cookie = StoredCookie(cookie, created: now) else { return }
        change { $0.insert(cookie, now: now) }
    }

    /// Keeps what these Set-Cookie fields of an answer from the URL may set.
    public func receive(_ setCookieFields: [String], from url: URL) {
        guard let origin = CookieOrigin(url.absoluteString) else { return }
        receive(setCookieFields, from: origin, now: WallClock.now)
    }

    /// Removes the cookie of the same name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        guard let cookie = StoredCookie(cookie, created: 0) else { return }
        change { $0.remove(cookie.key, domain: cookie.domain) }
    }

    /// - Parameter date: Only those that were set for the first time since then; `nil` for all.
    public func removeCookies(since date: Date? = nil) {
        let earliest = date?.timeIntervalSince1970 ?? -.infinity
        change { $0.removeAll { $0.created >= earliest } }
    }

    /// Removes those that were meant for one session: that have no end.
    public func removeSessionCookies() {
        change { $0.removeAll { $0.expires == nil } }
    }

    /// Writes the cookies to a file that only its owner may read; the file is replaced in one step.
    ///
    /// - Parameter includingSessionCookies: Also those without an end, which browsers forget when they are closed.
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
