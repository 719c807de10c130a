import TransferCore

extension ActiveExchange {
    /// Returns whether to go on.
    func beginHandshake(_ context: OpaquePointer) -> Bool {
        guard !Handshake.isForProxy(context) else { return true }
        guard let questions = connection.questions, let hop, let origin = hop.origin else { return false }
        do throws(TransferError) {
            connection.handshake = try Handshake(
                request.settings.tls, host: origin.host, context: context, questions: questions, owner: self,
                mayWait: files != nil)
            // Servers want the data connection to continue the session of the control connection (vsftpd's
            // require_ssl_reuse). In TLS 1.3 a ticket is good for one connection, and an upload brings no new one.
            return files == nil || Handshake.limitToTLS12(context)
        } catch {
            stopReason = .failed(error)
            return false
        }
    }
}
