import CTransferCurl
import Synchronization
import TransferCore

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

extension KnownProxies {
    /// The schemes that the proxy of a hop is known to ask for.
    func schemes(for hop: Hop, _ settings: ExchangeSettings) -> UInt? {
        settings.way(to: hop.url).flatMap { schemes(of: $0) }
    }

    /// A proxy that asks for Basic alone gets it at once from now on, as each 407 would cost a round trip and a body.
    ///
    /// - Parameter handle: Of a hop that has ended.
    func note(_ handle: CurlHandle, _ hop: Hop, _ settings: ExchangeSettings) {
        guard let way = settings.way(to: hop.url), ProxyAddress(way).hasCredentials, schemes(of: way) == nil else {
            return
        }
        let asked = UInt(bitPattern: handle.long(CURLINFO_PROXYAUTH_AVAIL)) & CurlOptions.proxySchemesToTry
        if asked == CurlOptions.basic { note(asked, of: way) }
    }
}
