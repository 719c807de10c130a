import Foundation
import FoundationNetworking
import Synchronization
import TransferEngine

/// The cookies of a `HTTPCookieStorage` that a program chose. They are read for each request, as the program may change
/// them, and selected by this library's rules.
final class StorageCookies: CookieKeeping {
    let storage: HTTPCookieStorage
    /// The moments at which cookies were first set, on which their order depends. Foundation's cookies always count as
    /// new.
    private let creations = Mutex<[StoredCookie.Key: Double]>([:])

    init(_ storage: HTTPCookieStorage) { self.storage = storage }

    var isEmpty: Bool { storage.cookies?.isEmpty ?? true }

    func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie] {
        StoredCookie.ordered(all.filter { $0.belongs(to: origin) && !$0.isExpired(at: now) })
    }

    func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double) {
        guard let made = cookie.foundation else { return }
        // One cookie is set at a time, as a secure cookie that another request sets must be seen.
        creations.withLock { creations in
            let known = known(creations)
            if isPlain, !cookie.isSecure, known.contains(where: { cookie.isBarred(by: $0) && !$0.isExpired(at: now) }) {
                return
            }
            let old = known.first { $0.key == cookie.key }
            if cookie.isExpired(at: now) {
                creations[cookie.key] = nil
                // The expired cookie has the domain, path and name of the stored one, and so identifies it.
                if old != nil { storage.deleteCookie(made) }
                return
            }
            creations[cookie.key] = old?.created ?? max(now, (creations.values.max() ?? 0) + 1e-6)
            storage.setCookie(made)
            // Entries of cookies that the program removed are dropped.
            if creations.count > 2 * (known.count + 32) {
                let keys = Set(self.known(creations).map(\.key))
                creations = creations.filter { keys.contains($0.key) }
            }
        }
    }

    private var all: [StoredCookie] { creations.withLock { known($0) } }

    private func known(_ creations: [StoredCookie.Key: Double]) -> [StoredCookie] {
        (storage.cookies ?? []).compactMap { cookie in
            let set = cookie.properties?[HTTPCookiePropertyKey("Created")] as? Double
            guard var stored = StoredCookie(cookie, created: (set ?? 0) + Date.timeIntervalBetween1970AndReferenceDate)
            else { return nil }
            if let created = creations[stored.key] { stored.created = created }
            return stored
        }
    }
}
