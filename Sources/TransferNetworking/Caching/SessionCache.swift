import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine
import TransferEventLoop

/// The cache of a session: a store and the rules of its use.
struct SessionCache: Sendable {
    let store: any ResponseStore
    /// The clock, in seconds since 1970.
    let now: @Sendable () -> Double
    /// Whether every permitted response is stored. Otherwise only responses that can be reused, or that a handler asked
    /// for, are stored.
    let keepsAll: Bool

    init(_ cache: URLCache) {
        guard let own = cache as? TransferCache else {
            self.init(store: PlainCacheStore(cache), now: { WallClock.now }, keepsAll: true)
            return
        }
        self.init(store: own, now: own.now, keepsAll: !own.isDefault)
    }

    private init(store: any ResponseStore, now: @escaping @Sendable () -> Double, keepsAll: Bool) {
        self.store = store
        self.now = now
        self.keepsAll = keepsAll
    }

    /// Drops the responses that an exchange has made invalid (RFC 9111 §4.4): those of each hop, and of the URLs that
    /// its fields name.
    func invalidate(_ outcome: ExchangeOutcome) {
        guard let first = outcome.hops.first, !CacheRules.isSafe(first.method) else { return }
        let fields = (outcome.start?.head ?? outcome.head)?.fields ?? []
        var keys: [String] = []
        for (index, hop) in outcome.hops.enumerated() {
            let isLast = index == outcome.hops.count - 1
            let next = isLast ? fields : [HeaderField("Location", outcome.hops[index + 1].url)]
            keys += CacheRules.invalidated(url: hop.url, method: hop.method, status: hop.status ?? 0, fields: next)
        }
        store.invalidate(keys)
    }
}

extension Session {
    /// Returns the request's own cache policy, or else the session's.
    func cachePolicy(of request: URLRequest) -> URLRequest.CachePolicy {
        let own = request.cachePolicy
        return own == .useProtocolCachePolicy ? settings.cachePolicy : own
    }

    /// Returns the cache's part of an exchange; `nil` where the cache is not involved.
    func cachedExchange(_ request: URLRequest, _ exchange: inout ExchangeRequest) -> CachedExchange? {
        let policy = cachePolicy(of: request)
        if policy == .reloadIgnoringLocalAndRemoteCacheData, exchange.headers.value("Cache-Control") == nil {
            exchange.headers += [HeaderField("Cache-Control", "no-cache"), HeaderField("Pragma", "no-cache")]
        }
        guard let cache, exchange.method == "GET" || exchange.method == "HEAD", exchange.body.isEmpty else {
            return nil
        }
        let identity: String?
        switch exchange.settings.credentials {
        case .none: identity = nil
        case .password(let user, let password): identity = CacheKey.digest("\(user):\(password)")
        // The user whom the response will be for is unknown here.
        default: return nil
        }
        return CachedExchange(cache, exchange, policy: CacheRequest.Policy(policy), identity: identity)
    }
}
