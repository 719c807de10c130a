import Synchronization

/// A store of cookies in memory, safe to use from any thread.
package final class CookieMemory: CookieKeeping {
    private let state = Mutex(CookieTable())
    private let count = Atomic(0)

    package init() {}

    package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Returns the cookies that have not expired, the oldest first.
    package func all(now: Double) -> [StoredCookie] { state.withLock { $0.all(now: now) } }

    package func cookies(for origin: CookieOrigin, now: Double) -> [StoredCookie] {
        state.withLock { $0.matching(origin, now: now) }
    }

    package func take(_ cookie: StoredCookie, overPlainHTTP isPlain: Bool, now: Double) {
        change { table in
            if isPlain, table.isBarred(cookie, now: now) { return }
            table.insert(cookie, now: now)
        }
    }

    package func change(_ body: (inout CookieTable) -> Void) {
        state.withLock { table in
            body(&table)
            count.store(table.count, ordering: .relaxed)
        }
    }
}
