import TransferCore

extension Handshake {
    /// Begins the handshake of an exchange's connection, with OpenSSL's context for it.
    ///
    /// - Returns: Whether the connection may continue.
    static func begin(_ exchange: ActiveExchange, _ context: OpaquePointer) -> Bool {
        guard !isForProxy(context) else { return true }
        guard let questions = exchange.connection.questions, let hop = exchange.hop, let origin = hop.origin else {
            return false
        }
        do throws(TransferError) {
            exchange.connection.handshake = try Handshake(
                exchange.request.settings.tls, host: origin.host, context: context, questions: questions,
                owner: exchange, mayWait: exchange.files != nil)
            // Servers want the data connection to continue the session of the control connection (vsftpd's
            // require_ssl_reuse). In TLS 1.3 a ticket serves one connection, and an upload brings no new one.
            return exchange.files == nil || limitToTLS12(context)
        } catch {
            exchange.stopReason = .failed(error)
            return false
        }
    }
}
