import CTransferCurl
import Synchronization
import TransferCore

/// The schemes of authentication that proxies have asked for. They live as long as an engine, for all its loops.
final class KnownProxies: Sendable {
    private static let limit = 64

    /// The CURLAUTH_… bits by the proxy's URL.
    private let asked = Mutex<[String: UInt]>([:])

    func schemes(of proxy: String) -> UInt? { asked.withLock { $0[proxy] } }

    func note(_ schemes: UInt, of proxy: String) {
        asked.withLock { asked in
            // A forgotten proxy asks again.
            if asked.count >= Self.limit { asked.removeAll() }
            asked[proxy] = schemes
        }
    }
}

extension KnownProxies {
    /// Returns the schemes that the proxy of a hop is known to ask for.
    func schemes(for hop: Hop, _ settings: ExchangeSettings) -> UInt? {
        settings.way(to: hop.url).flatMap { schemes(of: $0) }
    }

    /// Notes a proxy that asks for Basic alone. It gets Basic at once from now on, as each 407 would cost a round trip
    /// and a body.
    ///
    /// - Parameter handle: The handle of a hop that has ended.
    func note(_ handle: CurlHandle, _ hop: Hop, _ settings: ExchangeSettings) {
        guard let way = settings.way(to: hop.url), ProxyAddress(way).hasCredentials, schemes(of: way) == nil else {
            return
        }
        let asked = UInt(bitPattern: handle.long(CURLINFO_PROXYAUTH_AVAIL)) & CurlOptions.proxySchemesToTry
        if asked == CurlOptions.basic { note(asked, of: way) }
    }
}
