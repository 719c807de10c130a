import TransferCore
import TransferCrypto
import TransferEngine

extension SessionSettings {
    /// Returns the rules about trusted authorities, evaluators and client certificates.
    ///
    /// - Throws: `TransferError` when the file of the authorities cannot be read.
    func tlsRules() throws -> TLSRules {
        let anchors = try authorities.map { path throws(TransferError) in try TrustAnchors(pemFile: path) }
        let own = clientIdentities.map { ($0.key.lowercased(), $0.value) }
        let identities = ClientIdentities(clientIdentity, byHost: Dictionary(own) { first, _ in first })
        guard let manager = serverTrustManager else {
            // A session without rules of its own still has its own connections, as it has its own engine.
            return TLSRules(anchors: anchors, identities: identities)
        }
        return TLSRules(anchors: anchors, identities: identities) { trust in
            guard let evaluator = try manager.serverTrustEvaluator(forHost: trust.host) else {
                _ = try trust.evaluate().get()
                return
            }
            try evaluator.evaluate(trust, forHost: trust.host)
        }
    }
}
