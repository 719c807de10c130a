import CTransferOpenSSL

/// The end of the TLS connection of an answer. The connection may be older than the exchange, and libcurl has closed it
/// by the time that the exchange looks. Used on the loop of its exchange only.
final class TLSClosure {
    private let raw: UnsafeMutablePointer<transfer_handshake>

    /// - Parameter connection: OpenSSL's, which is open; `nil` without TLS.
    /// - Returns: `nil` without TLS, or where a proxy's is all there is.
    init?(_ connection: UnsafeMutableRawPointer?) {
        guard let raw = transfer_handshake_retained(connection, Handshake.index) else { return nil }
        self.raw = raw
    }

    deinit { transfer_handshake_release(raw) }

    /// The state once libcurl has come to the end of the answer.
    var state: ConnectionClosure { raw.pointee.has_closed != 0 ? .alerted : .cut }
}
