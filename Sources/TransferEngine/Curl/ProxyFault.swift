import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// The meaning of a CURLcode where the proxy of a hop is to blame.
enum ProxyFault {
    /// Returns the error of a hop.
    ///
    /// - Returns: `nil` where the proxy is not at fault.
    static func error(_ exchange: ActiveExchange, _ handle: CurlHandle, _ code: CURLcode) -> TransferError? {
        guard let hop = exchange.hop, let way = exchange.request.settings.way(to: hop.url) else { return nil }
        let proxy = ProxyAddress(way)
        if let error = refusal(exchange, hop, proxy, handle, code) { return error.blaming(proxy) }
        return error(
            code, Leg(hop, proxy, handle), text: handle.lastErrorText,
            systemError: Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO)))
    }

    /// Returns the name of the proxy to which an exchange's connection leads, for messages; `nil` where there is none.
    static func name(_ exchange: ActiveExchange) -> String? {
        exchange.hop.flatMap { exchange.request.settings.way(to: $0.url) }.map { "the proxy \(ProxyAddress($0))" }
    }

    /// The connection to a proxy and through it, to the extent that it was established.
    struct Leg {
        var proxy: ProxyAddress
        /// The host and port of the server.
        var target: String
        /// Whether the proxy speaks HTTP, and is asked for a tunnel to the server.
        var isTunnel: Bool
        /// Whether the request could leave, or the proxy had made its tunnel.
        var isOpen: Bool
        /// Whether the head of an answer has come.
        var isAnswered = false
    }

    /// Returns the error of a proxy that refused nothing.
    ///
    /// - Parameters:
    ///   - text: libcurl's message from the error buffer.
    ///   - systemError: The error of connect(2), where it reported one.
    static func error(_ code: CURLcode, _ leg: Leg, text: String, systemError: Int32) -> TransferError? {
        let words = Redaction.url(text)
        let proxy = leg.proxy
        func make(_ kind: TransferError.Code, _ message: String, transient: Bool = true, origin: Bool = true)
            -> TransferError
        {
            TransferError(
                kind, message, cause: .curl(Int32(code.rawValue)), isTransient: transient,
                scope: origin ? .origin : .transfer
            ).blaming(proxy)
        }
        switch code {
        case CURLE_PROXY:
            return make(.proxyRefused, "the proxy \(proxy) refused the connection to \(leg.target): \(words)")
        case CURLE_COULDNT_CONNECT:
            // libcurl's message names the proxy already, but in varying words.
            let reason = systemError == 0 ? "" : ": " + String(cString: strerror(systemError)).lowercasedFirst
            return make(.cannotConnect, "cannot connect to the proxy \(proxy)\(reason)")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return make(.cannotResolveHost, "cannot find the proxy \(proxy)")
        case CURLE_PEER_FAILED_VERIFICATION where proxy.scheme == "https" && !leg.isOpen:
            return make(
                .certificateRefused, "certificate of the proxy \(proxy) refused: \(words)", transient: false,
                origin: false)
        case CURLE_SSL_CONNECT_ERROR where proxy.scheme == "https" && !leg.isOpen:
            return make(.secureConnectionFailed, "no TLS connection to the proxy \(proxy): \(words)", origin: false)
        case CURLE_OPERATION_TIMEDOUT where !leg.isOpen:
            return make(
                .cannotConnect,
                "the proxy \(proxy) did not answer in time, asked for a connection to \(leg.target)")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            if leg.isTunnel, !leg.isOpen {
                return make(
                    .connectionLost, "the proxy \(proxy) ended the connection, asked for one to \(leg.target)")
            }
            // Without a tunnel the connection is the proxy's, which may have lost the server.
            guard !leg.isTunnel, proxy.scheme.hasPrefix("http"), !leg.isAnswered else { return nil }
            return make(
                .connectionLost, "the proxy \(proxy) ended the connection without an answer of \(leg.target)",
                origin: false)
        default: return nil
        }
    }

    /// Returns the error of a proxy that refused a tunnel.
    private static func refusal(
        _ exchange: ActiveExchange, _ hop: Hop, _ proxy: ProxyAddress, _ handle: CurlHandle, _ code: CURLcode
    ) -> TransferError? {
        let status = handle.long(CURLINFO_HTTP_CONNECTCODE)
        if status == 407 { return .proxyAsks(proxy) }
        guard status >= 300 else { return nil }
        let head = ResponseHead(status: status, block: exchange.connection.proxyLegs.head, received: WallClock.seconds)
        let reported = StatusRule.error(head, now: WallClock.seconds)
        return TransferError(
            .proxyRefused, "the proxy \(proxy) refused the connection to \(hop.hostAndPort) (\(status))",
            cause: .curl(Int32(code.rawValue)), isTransient: reported.isTransient, scope: .origin,
            retryAfter: reported.retryAfter)
    }
}

extension ProxyFault.Leg {
    fileprivate init(_ hop: Hop, _ proxy: ProxyAddress, _ handle: CurlHandle) {
        self.init(
            proxy: proxy, target: hop.hostAndPort,
            isTunnel: proxy.scheme.hasPrefix("http") && !hop.url.hasPrefix("http:"),
            // A tunnel that was used before has no time of its own.
            isOpen: handle.long(CURLINFO_HTTP_CONNECTCODE) > 0 || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0,
            isAnswered: handle.long(CURLINFO_RESPONSE_CODE) > 0)
    }
}

extension TransferError {
    /// Returns the error as one of the proxy's.
    func blaming(_ proxy: ProxyAddress) -> TransferError {
        var error = self
        error.proxy = "\(proxy)"
        return error
    }
}

extension Hop {
    var hostAndPort: String { origin?.hostAndPort ?? "" }

    var origin: Origin? { Origin(url: url) ?? Origin(fileServerURL: url) }
}
