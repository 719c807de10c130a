import CTransferCurl
import TransferCore
import TransferEventLoop

/// The meaning of a CURLcode where the proxy of a hop is to blame.
enum ProxyFault {
    /// - Returns: `nil` where it isn't the proxy's fault.
    static func error(_ exchange: ActiveExchange, _ handle: CurlHandle, _ code: CURLcode) -> TransferError? {
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
            // libcurl's message names the proxy already, but not always in the same words.
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
    private static func isTunnelled(_ handle: CurlHandle) -> Bool { handle.long(CURLINFO_HTTP_CONNECTCODE) > 0 }
}

extension Hop {
    var hostAndPort: String { origin?.hostAndPort ?? "" }

    var origin: Origin? { Origin(url: url) ?? Origin(fileServerURL: url) }
}
