import CTransferOpenSSL

/// The end of the TLS connection of an answer, used on the loop of its exchange only.
///
/// The connection may be older than the exchange, and libcurl has closed it when the exchange reads the state.
final class TLSClosure {
    private let raw: UnsafeMutablePointer<transfer_handshake>

    /// Begins to watch a connection.
    ///
    /// - Parameter connection: OpenSSL's open connection; `nil` without TLS.
    /// - Returns: `nil` without TLS, or where only the connection to a proxy has it.
    init?(_ connection: UnsafeMutableRawPointer?) {
        guard let raw = transfer_handshake_retained(connection, Handshake.index) else { return nil }
        self.raw = raw
    }

    deinit { transfer_handshake_release(raw) }

    /// The state once libcurl has come to the end of the answer.
    var state: ConnectionClosure { raw.pointee.has_closed != 0 ? .alerted : .cut }
}
