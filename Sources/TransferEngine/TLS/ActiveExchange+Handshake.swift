import TransferCore

extension ActiveExchange {
    /// Returns whether to go on.
    func beginHandshake(_ context: OpaquePointer) -> Bool {
        guard !Handshake.isForProxy(context) else { return true }
        guard let questions, let hop, let origin = Origin(url: hop.url) else { return false }
        do throws(TransferError) {
            handshake = try Handshake(
                request.settings.tls, host: origin.host, context: context, questions: questions, owner: self)
            return true
        } catch {
            stopReason = .failed(error)
            return false
        }
    }
}
