import CTransferCurl
import TransferCore
import TransferEventLoop

// What is known of the proxies that exchanges go through.
extension CurlPool {
    func proxySchemes(_ exchange: ActiveExchange, _ hop: Hop) -> UInt? {
        exchange.request.settings.way(to: hop.url).flatMap { proxies.schemes(of: $0) }
    }

    /// A proxy that asks for Basic alone gets it at once from now on, as each 407 would cost a round trip and a body.
    func noteProxySchemes(_ exchange: ActiveExchange, _ handle: CurlHandle) {
        guard let hop = exchange.hop, let way = exchange.request.settings.way(to: hop.url),
            ProxyAddress(way).hasCredentials,
            proxies.schemes(of: way) == nil
        else { return }
        let asked = UInt(bitPattern: handle.long(CURLINFO_PROXYAUTH_AVAIL)) & CurlOptions.proxySchemesToTry
        guard asked == CurlOptions.basic else { return }
        proxies.note(asked, of: way)
    }

    /// The failure of a hop that is its proxy's fault; `nil` for any other.
    func proxyError(_ exchange: ActiveExchange, _ handle: CurlHandle, _ code: CURLcode) -> TransferError? {
        guard let hop = exchange.hop, let way = exchange.request.settings.way(to: hop.url) else { return nil }
        let proxy = ProxyAddress(way)
        let status = handle.long(CURLINFO_HTTP_CONNECTCODE)
        let cause = TransferError.Cause.curl(Int32(code.rawValue))
        if status == 407 { return .proxyAsks(proxy) }
        if status >= 300 {
            let head = ResponseHead(
                status: status, block: exchange.connection.proxyLegs.head, received: WallClock.seconds)
            let told = StatusRule.error(head, now: WallClock.seconds)
            return TransferError(
                .proxyRefused, "the proxy \(proxy) refused the connection to \(hop.hostAndPort) (\(status))",
                cause: cause, isTransient: told.isTransient, scope: .origin, retryAfter: told.retryAfter)
        }
        let words = Redaction.url(handle.lastErrorText)
        switch code {
        case CURLE_PROXY:
            return TransferError(
                .proxyRefused, "the proxy \(proxy) refused the connection to \(hop.hostAndPort): \(words)",
                cause: cause,
                isTransient: true, scope: .origin)
        case CURLE_COULDNT_CONNECT:
            // What libcurl says names the proxy already, but not always in the same words.
            return TransferError(
                .cannotConnect, "can't connect to the proxy \(proxy)", cause: cause, isTransient: true, scope: .origin)
        case CURLE_COULDNT_RESOLVE_PROXY:
            return TransferError(
                .cannotResolveHost, "can't find the proxy \(proxy)", cause: cause, isTransient: true, scope: .origin)
        case CURLE_PEER_FAILED_VERIFICATION where proxy.scheme == "https" && !isTunnelled(handle):
            return TransferError(
                .certificateRefused, "certificate of the proxy \(proxy) refused: \(words)", cause: cause,
                isTransient: false)
        default: return nil
        }
    }

    /// Whether the proxy's own TLS stood already.
    private func isTunnelled(_ handle: CurlHandle) -> Bool { handle.long(CURLINFO_HTTP_CONNECTCODE) > 0 }
}

extension Hop {
    var hostAndPort: String { origin?.hostAndPort ?? "" }

    var origin: Origin? { Origin(url: url) ?? Origin(fileServerURL: url) }
}
