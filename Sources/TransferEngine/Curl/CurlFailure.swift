import CTransferCurl
import Glibc
import TransferCore

/// The translation of a CURLcode into an error, and whether another attempt makes sense (libcurl-errors(3)).
enum CurlFailure {
    /// Returns the error for a code.
    ///
    /// - Parameters:
    ///   - isConnected: Whether the connection stood. Before that the origin cannot be reached; after it only this
    ///     transfer failed.
    ///   - text: libcurl's message from the error buffer.
    ///   - systemError: The error of connect(2), where it reported one (CURLINFO_OS_ERRNO(3)).
    ///   - isBodyOut: Whether the whole body had been handed to the network.
    static func error(
        _ code: CURLcode, text: String, host: String, isConnected: Bool, systemError: Int32 = 0,
        isBodyOut: Bool = false
    ) -> TransferError {
        let words = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        let detail = Redaction.url(words)
        func make(_ kind: TransferError.Code, _ message: String, transient: Bool, origin: Bool = false) -> TransferError
        {
            TransferError(
                kind, message, cause: .curl(Int32(code.rawValue)), isTransient: transient,
                scope: origin ? .origin : .transfer)
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return make(.cannotResolveHost, "cannot find the host \(host)", transient: true, origin: true)
        case CURLE_COULDNT_RESOLVE_PROXY:
            return make(.cannotResolveHost, "cannot find the proxy: \(detail)", transient: true, origin: true)
        case CURLE_COULDNT_CONNECT:
            let words =
                systemError == 0 ? reason(in: detail) : ": " + String(cString: strerror(systemError)).lowercasedFirst
            return make(.cannotConnect, "cannot connect to \(host)\(words)", transient: true, origin: true)
        case CURLE_OPERATION_TIMEDOUT:
            return isConnected
                ? make(.timedOut, "stalled: \(detail.lowercasedFirst)", transient: true)
                : make(.cannotConnect, "\(host) did not answer in time", transient: true, origin: true)
        case CURLE_OUT_OF_MEMORY where isConnected, CURLcode(rawValue: Self.tooLarge):
            return make(
                .badResponse, "the server's answer has a field line of more than 100 KiB", transient: true)
        case CURLE_RECV_ERROR where detail.hasPrefix("Too large response headers"):
            return make(.badResponse, HeadRule.tooLong, transient: true)
        case CURLE_RECV_ERROR where detail.hasSuffix("in chunked-encoding"):
            let isTrailer = detail.hasPrefix("Out of memory") || detail.hasPrefix("Trailer")
            let words = isTrailer ? "trailers of more than 4 KiB" : "chunks that are none: \(detail.lowercasedFirst)"
            return make(.badResponse, "the server's answer has \(words)", transient: true)
        case CURLE_SEND_FAIL_REWIND:
            // libcurl wanted to send the body again over another connection, which only the queue decides.
            let words = isBodyOut ? "before the answer" : "while the body was being sent"
            return make(.connectionLost, "connection lost \(words)", transient: true)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_UPLOAD_FAILED, CURLE_AGAIN, CURLE_NO_CONNECTION_AVAILABLE:
            return make(.connectionLost, "connection lost: \(detail.lowercasedFirst)", transient: true)
        case CURLE_SSL_CONNECT_ERROR:
            return make(.secureConnectionFailed, "no TLS connection: \(detail)", transient: true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE:
            return make(.certificateRefused, "certificate of \(host) refused: \(detail)", transient: false)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED:
            return make(.secureConnectionFailed, "TLS set-up failed: \(detail)", transient: false)
        case CURLE_PROXY:
            return make(.proxyRefused, "the proxy refused: \(detail)", transient: true, origin: true)
        case CURLE_URL_MALFORMAT:
            return make(.badURL, "malformed URL: \(detail)", transient: false)
        case CURLE_UNSUPPORTED_PROTOCOL where isConnected:
            // The answer has no status line: "Received HTTP/0.9 when not allowed".
            return make(.badResponse, "not an HTTP answer", transient: true)
        case CURLE_UNSUPPORTED_PROTOCOL:
            return make(.badURL, "unsupported URL: \(detail)", transient: false)
        // The coding is one of the transfer (RFC 9112 §6.1): those of the content are removed elsewhere.
        case CURLE_BAD_CONTENT_ENCODING:
            let sentence = String(detail.prefix { $0 != "." }).lowercasedFirst
            return make(
                .badResponse, "the answer's Transfer-Encoding cannot be removed: \(sentence)", transient: true)
        case CURLE_WEIRD_SERVER_REPLY:
            return make(.badResponse, "not an HTTP answer: \(detail)", transient: true)
        case CURLE_OUT_OF_MEMORY:
            return make(.internalFault, "libcurl is out of memory", transient: true)
        default:
            return make(.connectionLost, detail, transient: true)
        }
    }

    /// The code CURLE_TOO_LARGE, which libcurl returns since 8.6 in place of CURLE_OUT_OF_MEMORY.
    private static let tooLarge: UInt32 = 100

    /// Extracts the system's reason from "Failed to connect to a.example port 80 after 2 ms: Connection refused".
    private static func reason(in text: String) -> String {
        guard let colon = text.lastIndex(of: ":") else { return "" }
        return ": " + text[text.index(after: colon)...].drop { $0 == " " }.description.lowercasedFirst
    }
}

extension CurlFailure {
    /// Returns the error of a hop, or `nil` when it ended well.
    static func error(of exchange: ActiveExchange, _ handle: CurlHandle, _ code: CURLcode) -> TransferError? {
        switch exchange.stopReason {
        case .bodyUnwanted, .spokenBefore: return nil
        case .failed(let error): return error
        case nil: break
        }
        guard code != CURLE_OK else { return exchange.decodingFailure }
        if let error = exchange.connection.linkError(code, exchange.link) { return error }
        let host = Origin(url: exchange.hop?.url ?? exchange.request.url)?.hostAndPort ?? ""
        if let error = exchange.connection.socketError(code, host: ProxyFault.name(exchange) ?? host) { return error }
        if let error = ProxyFault.error(exchange, handle, code) { return error }
        return CurlFailure.error(
            code, text: handle.lastErrorText, host: host,
            // A reused connection has no connect time of its own.
            isConnected: handle.offset(CURLINFO_CONNECT_TIME_T) > 0 || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0,
            systemError: Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO)),
            isBodyOut: exchange.body.length.map { exchange.outgoing.sent >= $0 } ?? false)
    }
}
