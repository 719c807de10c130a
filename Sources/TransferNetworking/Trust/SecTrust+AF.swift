public import Foundation
public import TransferCrypto

extension ServerTrust: AlamofireExtended {}
extension Certificate: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// As the server sent them: its own first.
    public var certificates: [SecCertificate] { type.certificates }

    /// The DER of the certificates.
    public var certificateData: [Data] { type.certificates.af.data }

    /// The public keys of the certificates.
    public var publicKeys: [SecKey] { type.certificates.af.publicKeys }

    /// Judges the chain and the host that was asked for.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`.
    public func evaluate() throws { try evaluate(afterApplying: .host(type.host)) }

    /// Judges by a policy.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a
    ///   `TransferError`.
    public func evaluate(afterApplying policy: SecPolicy) throws {
        do {
            switch policy {
            case .chain: try DefaultTrustEvaluator(validateHost: false).evaluate(type, forHost: type.host)
            case .host(let host): try DefaultTrustEvaluator().evaluate(type, forHost: host)
            case .revocation(let options):
                try RevocationTrustEvaluator(validateHost: false, options: options).evaluate(type, forHost: type.host)
            }
        } catch {
            throw AFError.serverTrustEvaluationFailed(
                reason: .trustEvaluationFailed(error: error.asAFError?.underlyingError ?? error))
        }
    }

    /// Judges the chain alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `defaultEvaluationFailed`.
    public func performDefaultValidation(forHost host: String) throws { try verifiedChain(forHost: host) }

    /// Judges the host alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `hostValidationFailed`.
    public func performValidation(forHost host: String) throws {
        let failure: TrustFailure?
        if let leaf = type.certificates.first {
            failure = leaf.failure(forHost: host)
        } else {
            failure = TrustFailure(.other, "the server showed no certificate")
        }
        guard let failure else { return }
        throw AFError.serverTrustEvaluationFailed(
            reason: .hostValidationFailed(output: AFError.ServerTrustFailureReason.Output(host, type, failure)))
    }

    /// - Parameter onlyAnchors: The only authorities to trust; `nil` trusts the session's.
    /// - Returns: From the server's certificate to the authority.
    @discardableResult
    func verifiedChain(forHost host: String, onlyAnchors: [SecCertificate]? = nil) throws -> [SecCertificate] {
        let result = type.evaluate(
            validatesHost: false, additionalAnchors: onlyAnchors ?? [], onlyAdditionalAnchors: onlyAnchors != nil)
        switch result {
        case .success(let chain): return chain
        case .failure(let failure):
            throw AFError.serverTrustEvaluationFailed(
                reason: .defaultEvaluationFailed(output: AFError.ServerTrustFailureReason.Output(host, type, failure)))
        }
    }
}

extension AlamofireExtension where ExtendedType == Certificate {
    /// The certificate's key.
    public var publicKey: SecKey? { type.publicKey }
}

extension Array: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == [Certificate] {
    /// The DER of each.
    public var data: [Data] { type.map { Data($0.der) } }

    /// The public key of each.
    public var publicKeys: [SecKey] { type.map(\.publicKey) }
}
