import Synchronization

/// The schemes of authentication that proxies have asked for, as long as an engine lives, for all its loops.
final class KnownProxies: Sendable {
    private static let limit = 64

    /// Proxy's URL → CURLAUTH_….
    private let asked = Mutex<[String: UInt]>([:])

    func schemes(of proxy: String) -> UInt? { asked.withLock { $0[proxy] } }

    func note(_ schemes: UInt, of proxy: String) {
        asked.withLock { asked in
            // One that is forgotten asks again.
            if asked.count >= Self.limit { asked.removeAll() }
            asked[proxy] = schemes
        }
    }
}
