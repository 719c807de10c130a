import TransferCore
import TransferCrypto
import TransferEngine

extension SessionSettings {
    /// - Throws: `TransferError` when the file of the authorities can't be read.
    func tlsRules() throws -> TLSRules {
        let anchors = try authorities.map { path throws(TransferError) in try TrustAnchors(pemFile: path) } ?? .system
        return TLSRules(anchors: anchors)
    }
}
